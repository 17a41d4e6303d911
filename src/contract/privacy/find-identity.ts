import { namesHandle } from './handle-scan.ts';
import { plainText } from './plain-text.ts';

/**
 * Detects identities (DIDs, AT-URIs and handles) in text: the part of the privacy scan that facts, pages and
 * instruments share. The callers decide where an identity is allowed, such as a labeler's own DID.
 */

const did = /did:[a-z0-9]+:[a-z0-9._:%-]/i;
const atUri = /at:\/\//i;

/**
 * Kind of an identity in a text. `encoded`: the text has more nested encodings than any legitimate text and may hide
 * an identity.
 */
export type IdentityShape = 'did' | 'at-uri' | 'handle' | 'encoded';

/**
 * Returns the kind of an identity that a text contains in any spelling, or `encoded` if the text cannot be decoded
 * completely; null if the text contains no identity. `hosts` are lower-case host names that the text may contain.
 */
export function findIdentity(text: string, hosts: ReadonlySet<string> = new Set()): IdentityShape | null {
  const plain = plainText(text);
  if (plain === null) return 'encoded';
  if (atUri.test(plain)) return 'at-uri';
  if (did.test(plain)) return 'did';
  return namesHandle(plain, hosts) ? 'handle' : null;
}
