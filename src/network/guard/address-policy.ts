import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { bareHost, httpSchemes, parseUrl, type RefusedUrl, socketSchemes } from '../../input/url.ts';

/** Verdict on a URL, computed without network access. */
export type Admission =
  | {
      readonly kind: 'admitted';
      readonly url: URL;
      /** True if the connection is not encrypted and therefore must not leave this machine. */
      readonly loopbackOnly: boolean;
      /** True if the host is a literal loopback address. */
      readonly isLoopback: boolean;
    }
  | { readonly kind: 'refused_address'; readonly why: string; readonly url: URL }
  | { readonly kind: 'bad_url'; readonly rule: RefusedUrl['rule']; readonly why: string; readonly url: URL | null };

/**
 * Admits the URL of a request: https, or http to loopback if the policy allows it. The URL may contain neither
 * credentials nor a fragment.
 */
export function admitHttpUrl(text: string, policy: AddressPolicy): Admission {
  return admit(text, { schemes: httpSchemes, admits: [] }, policy);
}

/**
 * Admits the URL of a websocket: wss, or ws to loopback if the policy allows it. The URL may contain credentials, but
 * no fragment.
 */
export function admitSocketUrl(text: string, policy: AddressPolicy): Admission {
  return admit(text, { schemes: socketSchemes, admits: ['credentials'] }, policy);
}

interface Transport {
  readonly schemes: readonly [encrypted: string, plain: string];
  readonly admits: readonly 'credentials'[];
}

function admit(text: string, { schemes, admits }: Transport, policy: AddressPolicy): Admission {
  const [encrypted, plain] = schemes;
  const verdict = parseUrl(text, { schemes: policy.allowLoopback ? schemes : [encrypted], admits });
  if (verdict.kind === 'refused') return { ...verdict, kind: 'bad_url' };
  const { url } = verdict;
  const loopbackOnly = url.protocol === plain;
  // Check a literal address here, because node does not call `lookup` for literal addresses. The URL parser has
  // normalized other notations, such as 0x7f.1.
  const host = bareHost(url);
  if (isIP(host) === 0) return { kind: 'admitted', url, loopbackOnly, isLoopback: false };
  const address = judgeAddress(host, policy);
  if (!address.allowed) return { kind: 'refused_address', why: `no allowed address (${address.range})`, url };
  if (loopbackOnly && !address.loopback) {
    const why = `${plain} is only allowed for loopback; use ${encrypted}`;
    return { kind: 'bad_url', rule: 'scheme', why, url };
  }
  return { kind: 'admitted', url, loopbackOnly, isLoopback: address.loopback };
}

/** Policy of the outbound guard. It allows public unicast addresses, with one optional exception. */
export interface AddressPolicy {
  /** True to allow loopback addresses (127.0.0.0/8 and ::1) as well; only for the simulated network and tests. */
  readonly allowLoopback: boolean;
}

/** Verdict of the policy on one address. */
type AddressVerdict =
  | { readonly allowed: true; readonly loopback: boolean }
  /** The address is not allowed. `range` describes the kind of address for the operator. */
  | { readonly allowed: false; readonly range: string };

/** Error for a host that has no address allowed by the policy. */
export class RefusedAddressError extends Error {
  constructor(ranges: readonly string[]) {
    super(`no allowed address (${[...new Set(ranges)].join(', ') || 'none'})`);
    this.name = 'RefusedAddressError';
  }
}

/** Error for a name that was not looked up because too many look-ups are pending; the name may exist. */
export class BusyResolverError extends Error {
  constructor() {
    super('too many names are being resolved');
    this.name = 'BusyResolverError';
  }
}

/**
 * Function that resolves a name to all its addresses; an abort ends the query. `createNameResolver` creates such a
 * function.
 */
export type Resolve = (
  hostname: string,
  options: { readonly signal: AbortSignal },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Returns the verdict on one literal address in the notation of `net.isIP` and `new URL` (without brackets). */
export function judgeAddress(address: string, policy: AddressPolicy): AddressVerdict {
  // Reject an address with a zone: a zone names an interface of this machine, so the address is never public.
  if (isIP(address) === 0 || address.includes('%')) return { allowed: false, range: 'not an address' };
  const parsed = ipaddr.parse(address);
  const range = parsed.kind() === 'ipv4' ? parsed.range() : rangeOfIPv6(parsed as ipaddr.IPv6);
  if (range === 'unicast') return { allowed: true, loopback: false };
  if (range === 'loopback' && policy.allowLoopback) return { allowed: true, loopback: true };
  return { allowed: false, range };
}

/**
 * Returns the range of an IPv6 address. The policy allows global unicast addresses, which are 2000::/3 without its
 * reserved blocks, and rejects all others, such as `::a.b.c.d` or unassigned addresses. Of the forms that embed an IPv4
 * address, the policy allows only NAT64's well-known prefix with a public address, because a network without IPv4
 * reaches every IPv4 host through NAT64.
 */
function rangeOfIPv6(address: ipaddr.IPv6): string {
  const range = address.range();
  if (range === 'unicast') return address.match(globalUnicast) ? 'unicast' : 'reserved';
  if (range === 'rfc6052' && address.match(nat64)) {
    const embedded = ipaddr.fromByteArray(address.toByteArray().slice(12)).range();
    return embedded === 'unicast' ? 'unicast' : 'reserved';
  }
  return range;
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Creates a `lookup` for `net.connect` and `tls.connect` that checks every address of the name and returns only the
 * allowed ones, so that the connection uses an address that was checked. Fails with RefusedAddressError if no address
 * is allowed. Node does not call a lookup for a literal address: check literal addresses first.
 *
 * `loopbackOnly` also rejects public addresses, for connections that must not leave this machine. `signal` ends the
 * query of an abandoned connection, because node does not do so. `found` is called when an address is allowed: the
 * `lookup` event of a socket may be emitted before a caller has the socket, if the address was known already.
 */
export function guardedLookup(
  policy: AddressPolicy,
  {
    loopbackOnly = false,
    resolve,
    signal,
    found = () => undefined,
  }: { loopbackOnly?: boolean; resolve: Resolve; signal: AbortSignal; found?: () => void },
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { signal }, (error, addresses) => {
      if (error) return done(error, []);
      const refused: string[] = [];
      const allowed = addresses.filter(({ address }) => {
        const verdict = judgeAddress(address, policy);
        if (!verdict.allowed) refused.push(verdict.range);
        else if (loopbackOnly && !verdict.loopback) refused.push('public, but unencrypted');
        return verdict.allowed && (verdict.loopback || !loopbackOnly);
      });
      const [first] = allowed;
      if (first === undefined) return done(new RefusedAddressError(refused), []);
      found();
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  };
}
