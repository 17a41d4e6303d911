import type { Micros } from '../../contract/timestamp.ts';
import { registrableDomain } from '../../network/guard/registrable-domain.ts';
import type { ShareKey } from '../shares/shares.ts';
import { priorityOf } from '../state/priority.ts';
import { type KnownLabeler, priorityInput } from './known-labeler.ts';

/** Maximum number of endpoints whose domains are remembered. */
const maxDomains = 20_000;

/** Returns a function that maps a source to its share. An unknown source is `new` and has a domain of its own. */
export function createShareOf(
  labeler: (did: string) => KnownLabeler | undefined,
  clock: () => Micros,
): (source: string) => ShareKey {
  const domains = new Map<string, string>();
  const domainOf = (endpoint: string): string => {
    const known = domains.get(endpoint);
    if (known !== undefined) return known;
    const domain = registrableDomain(URL.parse(endpoint)?.host ?? endpoint);
    if (domains.size >= maxDomains) domains.clear();
    domains.set(endpoint, domain);
    return domain;
  };
  return (source) => {
    const known = labeler(source);
    if (!known) return { priority: 'new', domain: source, source };
    const domain = known.endpoint === null ? source : domainOf(known.endpoint);
    return { priority: priorityOf(priorityInput(known), clock()), domain, source };
  };
}
