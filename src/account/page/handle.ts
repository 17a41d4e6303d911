import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
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

/** Returns the error message for a handle that does not resolve, or null if it does. */
export function handleTrouble({ kind }: HandleResolution): string | null {
  switch (kind) {
    case 'resolved':
      return null;
    case 'invalid_handle':
      return 'This is not a handle of the public network. Check its spelling, or enter the DID.';
    case 'not_found':
      return 'This handle names no account: neither its DNS nor its own site names a DID. Check its spelling, or enter the DID.';
    case 'unconfirmed':
      return 'This handle points to an account that does not claim it, so it is not confirmed. Enter the DID.';
    case 'failed':
      return 'This handle could not be resolved at the moment. Try again, or enter the DID.';
  }
}

/** Error message for a text that is neither a handle nor a DID. */
export const neither = `This is neither a handle nor a DID. A handle looks like alice.bsky.social; a DID is ${didInWords}.`;

/** Error message if handles are not accepted. */
export const didOnly = `This service does not resolve handles. Enter the DID of the account: ${didInWords}.`;
