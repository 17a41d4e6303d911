import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';

/** Rate limit of one host: an amount per second, and the maximum amount that accumulates while the host is unused. */
export interface HostRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Number of hosts in memory above which hosts with a full bucket are removed. */
const maxHosts = 16_384;

interface Bucket {
  readonly balance: number;
  readonly atMs: number;
}

/** Token buckets, one for each host. A host without a bucket in memory has a full bucket. */
export class HostRates {
  readonly #rate: HostRate;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `clock` is a monotonic clock, in milliseconds. */
  constructor(rate: HostRate, clock: () => number) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Returns the time in milliseconds until a claim for the host may be granted; 0 if it may be granted now. */
  msUntilFree(host: string): number {
    return Math.ceil(Math.max(0, ((1 - this.#balanceOf(host)) / this.#rate.perSecond) * 1_000));
  }

  /** Charges the host for a claim, or for another amount. */
  take(host: string, amount = 1): void {
    const balance = this.#balanceOf(host) - amount;
    this.#buckets.delete(host);
    if (this.#buckets.size >= maxHosts) this.#removeFull();
    this.#buckets.set(host, { balance, atMs: this.#clock() });
  }

  #balanceOf(host: string): number {
    const { perSecond, burst } = this.#rate;
    const bucket = this.#buckets.get(host);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.balance + ((this.#clock() - bucket.atMs) / 1_000) * perSecond);
  }

  /** Removes the hosts with a full bucket and, if that frees no space, the host that was charged least recently. */
  #removeFull(): void {
    const [oldest] = this.#buckets.keys();
    for (const host of this.#buckets.keys()) if (this.#balanceOf(host) >= this.#rate.burst) this.#buckets.delete(host);
    if (this.#buckets.size >= maxHosts && oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/**
 * Returns the registrable domain of a host. Shares of a resource are counted per registrable domain, because subdomains
 * are free and domains cost money. `host` has the form of `URL.host`: it may have a port, and an IPv6 address is in
 * brackets.
 *
 * Suffixes of private registries (`workers.dev`) are not treated as suffixes: any party may create any number of names
 * under such a suffix, so all those names share one domain. An address has no domain; its /24 or /48 is used instead.
 * Loopback addresses and `localhost` keep their port, because on a simulated network each port is a separate host.
 */
export function registrableDomain(host: string): string {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return addressBlock(name) ?? host;
  return getDomain(name, { extractHostname: false, validateHostname: false }) ?? host;
}

/** Returns the /24 or /48 of an address, which one customer of a provider can easily obtain; null for loopback. */
function addressBlock(address: string): string | null {
  const parsed = ipaddr.parse(address);
  if (parsed.range() === 'loopback') return null;
  const bytes = parsed.toByteArray();
  return parsed.kind() === 'ipv4'
    ? `${bytes.slice(0, 3).join('.')}.0/24`
    : `${ipaddr.fromByteArray([...bytes.slice(0, 6), ...Array<number>(10).fill(0)]).toString()}/48`;
}

/**
 * Returns the registrable domains of a host, the narrowest first. A host under a private registry such as
 * `workers.dev` has two domains: the customer's (`b.workers.dev`) and the registry's. The result for an IP address
 * (without brackets) or a name of one label is the host itself. The result for a public suffix such as `co.uk` is
 * empty.
 */
export function hostDomains(host: string): readonly string[] {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(name) !== 0 || !name.includes('.')) return [name];
  // Do not validate the name: a name such as `-a.b.example` is not a valid host name, but may resolve nevertheless.
  const options = { extractHostname: false, validateHostname: false };
  const domains = [getDomain(name, { ...options, allowPrivateDomains: true }), getDomain(name, options)];
  return [...new Set(domains.filter((domain) => domain !== null))];
}
