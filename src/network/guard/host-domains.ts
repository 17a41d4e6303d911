import { isIP } from 'node:net';
import { getDomain } from 'tldts';

/**
 * Returns the registrable domains of a host, the narrowest first. Under a private registry such as `workers.dev` there
 * are two: the customer's (`b.workers.dev`) and the registry's. The result for an IP address (without brackets) or a
 * name of one label is the host itself. The result for a public suffix such as `co.uk` is empty.
 */
export function hostDomains(host: string): readonly string[] {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(name) !== 0 || !name.includes('.')) return [name];
  const domains = [getDomain(name, { allowPrivateDomains: true }), getDomain(name)];
  return [...new Set(domains.filter((domain) => domain !== null))];
}
