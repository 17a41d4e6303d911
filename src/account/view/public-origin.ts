import { admitHttpUrl } from '../../network/guard/address-policy.ts';
import { isResolvableHandle } from '../../network/identity/did-document.ts';

/**
 * Maximum length of an origin in a link, in characters. A page repeats the origin in every observation of the labeler.
 */
const maxLength = 300;

/**
 * Returns the origin of a labeler's endpoint (untrusted text) if a page may link to it: https, a host name of the
 * public network, no credentials. Returns null otherwise, because a link could make the reader's browser send a
 * request into the reader's own network.
 */
export function publicOrigin(endpoint: string | undefined): string | null {
  if (endpoint === undefined) return null;
  const admission = admitHttpUrl(endpoint, { allowLoopback: false });
  if (admission.kind !== 'admitted') return null;
  const { origin, hostname } = admission.url;
  return origin.length <= maxLength && isResolvableHandle(hostname) ? origin : null;
}
