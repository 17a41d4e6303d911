import { isIP } from 'node:net';
import { getDomain } from 'tldts';

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
