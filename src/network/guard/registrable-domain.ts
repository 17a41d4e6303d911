import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';

/**
 * The registrable domain of a host, as the unit that shares of a resource are counted by: a subdomain is free, a domain
 * costs money. `host` is spelled as `URL.host` spells it, so it may carry a port and an IPv6 address is in brackets.
 *
 * - Suffixes of private registries (`workers.dev`) are not suffixes here: anybody may have as many names under them as
 *   they like, so all of them share one domain.
 * - Addresses have no domain: the /24 or /48 that they are in takes its place.
 * - Loopback addresses and `localhost` keep their port: on a simulated network each port is a host of its own.
 */
export function registrableDomain(host: string): string {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return addressBlock(name) ?? host;
  return getDomain(name, { extractHostname: false, validateHostname: false }) ?? host;
}

/** The block of addresses that one customer of a provider can easily hold; null for loopback. */
function addressBlock(address: string): string | null {
  const parsed = ipaddr.parse(address);
  if (parsed.range() === 'loopback') return null;
  const bytes = parsed.toByteArray();
  return parsed.kind() === 'ipv4'
    ? `${bytes.slice(0, 3).join('.')}.0/24`
    : `${ipaddr.fromByteArray([...bytes.slice(0, 6), ...Array<number>(10).fill(0)]).toString()}/48`;
}
