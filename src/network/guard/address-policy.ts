import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses the outbound guard lets through: public unicast ones, always and only, but for this exception. */
export interface AddressPolicy {
  /** Loopback too (127.0.0.0/8 and ::1): for the simulated network and tests alone. */
  readonly allowLoopback: boolean;
}

/** The policy's verdict on one address. */
export type AddressVerdict =
  | { readonly allowed: true; readonly loopback: boolean }
  /** `range` names the kind of address in one word, for an operator. */
  | { readonly allowed: false; readonly range: string };

/** A host has no address that the policy lets through. */
export class RefusedAddressError extends Error {
  constructor(ranges: readonly string[]) {
    super(`no public address (${[...new Set(ranges)].join(', ') || 'none'})`);
    this.name = 'RefusedAddressError';
  }
}

/** A name was not looked up because too many are: nothing is known of it. */
export class BusyResolverError extends Error {
  constructor() {
    super('too many names are being resolved');
    this.name = 'BusyResolverError';
  }
}

/** Resolves a name to all its addresses; an abort ends the query. `createNameResolver` makes one. */
export type Resolve = (
  hostname: string,
  options: { readonly signal: AbortSignal },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Judges one literal address, as `net.isIP` understands it and `new URL` spells it (without brackets). */
export function judgeAddress(address: string, policy: AddressPolicy): AddressVerdict {
  // A zone names an interface of this machine: never a public address.
  if (isIP(address) === 0 || address.includes('%')) return { allowed: false, range: 'not an address' };
  const parsed = ipaddr.parse(address);
  const range = parsed.kind() === 'ipv4' ? parsed.range() : rangeOfIPv6(parsed as ipaddr.IPv6);
  if (range === 'unicast') return { allowed: true, loopback: false };
  if (range === 'loopback' && policy.allowLoopback) return { allowed: true, loopback: true };
  return { allowed: false, range };
}

/**
 * Global unicast is 2000::/3 less what is set aside in it; anything else is refused whatever it is called, such as
 * `::a.b.c.d` or addresses not yet given out. Of the forms that embed an IPv4 address only NAT64's well-known prefix
 * is let through, where the embedded one is public: a network without IPv4 reaches every IPv4 host by it.
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
 * A `lookup` for `net.connect` and `tls.connect`: judges every address of the name and hands on the allowed ones alone,
 * so that the address that was judged is the one connected to and no second resolution can say otherwise. Fails with
 * RefusedAddressError where none is left. Beware: for a literal address node never calls a lookup, judge it first.
 *
 * `loopbackOnly` refuses public addresses too: for what may not leave this machine. `signal` ends the query of a
 * connection that is given up, which node has no means to say.
 */
export function guardedLookup(
  policy: AddressPolicy,
  { loopbackOnly = false, resolve, signal }: { loopbackOnly?: boolean; resolve: Resolve; signal: AbortSignal },
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
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  };
}
