/**
 * The last line of defence: no subject in an aggregate. Nothing that an instrument writes should ever get this
 * far; what does is refused whole, and the alarm names the place and never the content.
 */

/** A colon or slash may be percent-encoded, as in the query of an address. */
const did = /did(?::|%3a)[a-z0-9]+(?::|%3a)[a-z0-9._:%-]/i;
const atUri = /at(?::|%3a)(?:\/|%2f){2}/i;

/** A place in a body where an identity stands that must not. */
export interface Leak {
  /** JSON pointer (RFC 6901) of the value, or of the object whose key leaks. */
  readonly pointer: string;
  readonly shape: 'did' | 'at-uri';
}

/** Finds the first identity in a facts body, other than the labelers' own DIDs; null when there is none. */
export function findLeak(body: object): Leak | null {
  return scan(body, '');
}

const labelerDid = /^\/facts\/top_labelers_7d\/\d+\/labeler_did$/;

function scan(value: unknown, pointer: string): Leak | null {
  if (typeof value === 'string') return scanText(value, pointer, labelerDid.test(pointer));
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    const leak = scanText(key, pointer, false) ?? scan(member, `${pointer}/${key}`);
    if (leak) return leak;
  }
  return null;
}

function scanText(text: string, pointer: string, didAllowed: boolean): Leak | null {
  if (atUri.test(text)) return { pointer, shape: 'at-uri' };
  return !didAllowed && did.test(text) ? { pointer, shape: 'did' } : null;
}
