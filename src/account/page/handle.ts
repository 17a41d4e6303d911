import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { isHandle } from '../../network/identity/handle.ts';
import type { HandleResolution } from '../../network/identity/resolve-handle.ts';

/** Resolves a handle to its DID. */
export type FindHandle = (handle: string, signal: AbortSignal) => Promise<HandleResolution>;

/** Maximum length of a parsed text in characters: an AT-URI of a record, with room for invisible characters. */
const maxTextLength = 2048;
/** Matches invisible characters in pasted names: direction marks, zero-width characters, soft hyphens. */
const invisible = /\p{Cf}/gu;
/** Matches the forms in which an account is often pasted: `@name`, `at://name`, `at://name/collection/rkey`. */
const copied = /^(?:@|at:\/\/([^/?#]*).*$)/is;

/** Extracts the name of an account from typed or pasted text. */
function nameIn(text: string): string {
  if (text.length > maxTextLength) return '';
  return text.replace(invisible, '').trim().replace(copied, '$1').toLowerCase();
}

/** Extracts the DID from typed or pasted text, in canonical form. Returns null if the text is not a DID. */
export function didIn(text: string): string | null {
  const did = nameIn(text);
  return isDid(did) ? canonicalDid(did) : null;
}

/**
 * Extracts a handle from typed text, with or without `@` and surrounding spaces. Returns null if the text is not a
 * handle.
 */
export function handleIn(text: string): string | null {
  const handle = nameIn(text);
  return isHandle(handle) ? handle : null;
}
