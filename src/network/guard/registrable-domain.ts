import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';

/**
 * Returns the registrable domain of a host, which is the unit for shares of a resource, because a subdomain is free and
 * a domain costs money. `host` has the form of `URL.host`, so it may have a port, and an IPv6 address is in brackets.
 *
 * Suffixes of private registries (`workers.dev`) are not treated as suffixes: any party may create any number of names
 * under such a suffix, so all those names share one domain. An address has no domain; its /24 or /48 is used instead.
 * Loopback addresses and `localhost` keep their port: on a simulated network each port is a separate host.
 */
export function registrableDomain(host: string): string {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return addressBlock(name) ?? host;
  return getDomain(name, { extractHostname: false, validateHostname: false }) ?? host;
}

/** Returns the block of addresses that one customer of a provider can easily obtain, or null for loopback. */
function addressBlock(address: string): string | null {
  const parsed = ipaddr.parse(address);
  if (parsed.range() === 'loopback') return null;
  const bytes = parsed.toByteArray();
  return parsed.kind() === 'ipv4'
    ? `${bytes.slice(0, 3).join('.')}.0/24`
    : `${ipaddr.fromByteArray([...bytes.slice(0, 6), ...Array<number>(10).fill(0)]).toString()}/48`;
}
