import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { isHandle } from '../../network/identity/did-document.ts';
import type { HandleResolution } from '../../network/identity/identity.ts';

/** Resolves a handle to its DID. */
export type FindHandle = (handle: string, signal: AbortSignal) => Promise<HandleResolution>;

/** Maximum length of parsed text, in characters: enough for the AT-URI of a record and some invisible characters. */
const maxTextLength = 2048;
/**
 * Matches invisible characters that are often pasted with a name, such as direction marks, zero-width characters and
 * soft hyphens.
 */
const invisible = /\p{Cf}/gu;
/** Matches forms in which an account is often pasted: `@name`, `at://name`, `at://name/collection/rkey`. */
const copied = /^(?:@|at:\/\/([^/?#]*).*$)/is;

/** Matches the beginning of the address of a profile or a post in the official application. */
const profileAddress = /^https?:\/\/bsky\.app\/profile\//i;

/** Extracts the name of an account from typed or pasted text. Returns an empty string if the text is too long. */
function nameIn(text: string): string {
  if (text.length > maxTextLength) return '';
  return text.replace(invisible, '').trim().replace(profileAddress, 'at://').replace(copied, '$1').toLowerCase();
}

/** Extracts a DID from typed or pasted text, in canonical form. Returns null if the text contains anything else. */
export function didIn(text: string): string | null {
  const did = nameIn(text);
  return isDid(did) ? canonicalDid(did) : null;
}

/**
 * Extracts a handle from typed or pasted text: the handle itself, `@alice.example`, an AT-URI or the address of a
 * profile. Returns null for any other text.
 */
export function handleIn(text: string): string | null {
  const handle = nameIn(text);
  return isHandle(handle) ? handle : null;
}
