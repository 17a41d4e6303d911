import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns the address of a request's client. */
export type ClientOf = (message: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/**
 * Creates a function that finds the client's address behind `proxies` trusted proxies. Each proxy appends the address
 * of its peer to `X-Forwarded-For`, so the client is the Nth address from the right; the client controls everything
 * to the left of it. If the header has fewer entries, the function uses the first entry. Without trusted proxies, or
 * without a valid address at that position, the function returns the connection's peer. `onUntrusted` is called for
 * each request that a local proxy forwarded although no proxy is trusted: the server then treats all clients of that
 * proxy as one.
 */
export function clientAddress(proxies: number, onUntrusted: () => void = () => undefined): ClientOf {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (proxies > 0) return forwarded(headers['x-forwarded-for'], proxies) ?? peer;
    if (isProxied(headers) && isNearby(peer)) onUntrusted();
    return peer;
  };
}

/** Returns true if a request has a header that reverse proxies add. */
function isProxied(headers: IncomingHttpHeaders): boolean {
  return ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'].some((name) => headers[name] !== undefined);
}

function forwarded(field: string | string[] | undefined, proxies: number): string | null {
  if (proxies === 0 || field === undefined) return null;
  const addresses = String(field).split(',');
  const claimed = (addresses.at(-proxies) ?? addresses[0] ?? '').trim();
  return isIP(claimed) === 0 ? null : claimed;
}

/** A network to which a client belongs. `share` is its allowance as a multiple of the allowance of a single client. */
export interface NetworkTier {
  readonly network: string;
  readonly share: number;
}

/** Maximum number of addresses whose networks are cached. Parsing an address takes longer than answering a request. */
const maxRemembered = 4_096;

const remembered = new Map<string, readonly NetworkTier[]>();

/**
 * Returns the networks whose allowances apply to an address, the narrowest first. An IPv4 address is one client, and so
 * is an IPv6 /64 network. Providers assign /56 or /48 networks to sites. These networks have two and four times the
 * allowance of a client; otherwise one site could act as 65,536 clients.
 */
export function networkTiers(address: string): readonly NetworkTier[] {
  const known = remembered.get(address);
  if (known) return known;
  const tiers = tiersOf(address);
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(address, tiers);
  return tiers;
}

/** Returns the key of a client, which is its narrowest network. */
export function clientKey(address: string): string {
  return networkTiers(address)[0]?.network ?? address;
}

/** Returns the widest network of a client, which is its site. */
export function widestNetwork(address: string): NetworkTier {
  return networkTiers(address).at(-1) ?? { network: address, share: 1 };
}

/** Returns the key of a client's site, which is its widest network. */
export function siteKey(address: string): string {
  return widestNetwork(address).network;
}

function tiersOf(address: string): readonly NetworkTier[] {
  if (!ipaddr.isValid(address)) return [{ network: address, share: 1 }];
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return [{ network: parsed.toString(), share: 1 }];
  const [a = 0, b = 0, c = 0, d = 0] = parsed.parts;
  const name = (fourth: number, bits: number): string =>
    `${[a, b, c, fourth].map((part) => part.toString(16)).join(':')}/${bits}`;
  return [
    { network: name(d, 64), share: 1 },
    { network: name(d & 0xff00, 56), share: 2 },
    { network: name(0, 48), share: 4 },
  ];
}

/** Returns true for an address of this machine or of a private network, where an operator's reverse proxy may run. */
export function isNearby(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );
}

/**
 * Limit that was exceeded: `client` means the limit of one of the client's networks, `total` the limit of all clients
 * together.
 */
type LimitReached = 'client' | 'total';

/** Limits on the amount that clients may hold at the same time. `perClient` is null if only the total is limited. */
interface TieredBounds {
  readonly perClient: number | null;
  readonly total: number;
}

/** Counts the amounts that clients hold and enforces the limits of each network and of the total. */
export class TieredLimit {
  readonly #bounds: TieredBounds;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: TieredBounds) {
    this.#bounds = bounds;
  }

  /** Amount that all clients hold. */
  get total(): number {
    return this.#total;
  }

  /** Returns the amount held by the widest network of a client, and `more`, divided by its allowance. */
  usage(tiers: readonly NetworkTier[], more = 0): number {
    const widest = tiers.at(-1);
    return widest ? ((this.#held.get(widest.network) ?? 0) + more) / widest.share : 0;
  }

  /**
   * Adds an amount to the client's networks and returns null. If this would exceed a limit, adds nothing and returns
   * that limit.
   */
  take(tiers: readonly NetworkTier[], amount: number): LimitReached | null {
    const { perClient, total } = this.#bounds;
    if (perClient !== null) {
      for (const { network, share } of tiers) {
        if ((this.#held.get(network) ?? 0) + amount > perClient * share) return 'client';
      }
    }
    if (this.#total + amount > total) return 'total';
    this.#add(tiers, amount);
    return null;
  }

  /** Releases an amount that was taken. */
  give(tiers: readonly NetworkTier[], amount: number): void {
    this.#add(tiers, -amount);
  }

  #add(tiers: readonly NetworkTier[], amount: number): void {
    this.#total += amount;
    for (const { network } of tiers) {
      const held = (this.#held.get(network) ?? 0) + amount;
      if (held === 0) this.#held.delete(network);
      else this.#held.set(network, held);
    }
  }
}
