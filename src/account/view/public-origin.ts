import { admitHttpUrl } from '../../network/guard/outbound-url.ts';
import { isResolvableHandle } from '../../network/identity/handle.ts';

/** Maximum length of a linked origin in characters; a page repeats the origin in every observation of the labeler. */
const maxLength = 300;

/**
 * Returns the origin of a labeler's endpoint to which a page may link: https, a host name of the public network, no
 * credentials. The endpoint is untrusted text. Returns null for any other endpoint, because a link to it could make the
 * reader's browser send a request into the reader's own network.
 */
export function publicOrigin(endpoint: string | undefined): string | null {
  if (endpoint === undefined) return null;
  const admission = admitHttpUrl(endpoint, { allowLoopback: false });
  if (admission.kind !== 'admitted') return null;
  const { origin, hostname } = admission.url;
  return origin.length <= maxLength && isResolvableHandle(hostname) ? origin : null;
}
