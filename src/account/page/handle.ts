import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { isHandle } from '../../network/handle.ts';
import type { HandleResolution } from '../../network/resolve-handle.ts';

/** Finds out whose a handle is. */
export type FindHandle = (handle: string, signal: AbortSignal) => Promise<HandleResolution>;

/** A longer text is not looked into: an AT-URI of a record, with room for marks that nobody sees. */
const longestText = 2048;
/** Marks that are copied along with a name and are not seen: of direction, of width none, soft hyphens. */
const invisible = /\p{Cf}/gu;
/** What an account is named with where people copy it from: `@name`, `at://name`, `at://name/collection/rkey`. */
const copied = /^(?:@|at:\/\/([^/?#]*).*$)/is;

/** The name of an account in a text that somebody typed or pasted. */
function nameIn(text: string): string {
  if (text.length > longestText) return '';
  return text.replace(invisible, '').trim().replace(copied, '$1').toLowerCase();
}

/** The DID in a text that somebody pasted, as it is written; null when there is none. */
export function didIn(text: string): string | null {
  const did = nameIn(text);
  return isDid(did) ? canonicalDid(did) : null;
}

/** The handle that somebody typed, as people write it (`@alice.example`, ` alice.example`); null when it is none. */
export function handleIn(text: string): string | null {
  const handle = nameIn(text);
  return isHandle(handle) ? handle : null;
}

/** What a person is told when their handle names no account; null when it does. */
export function handleTrouble({ kind }: HandleResolution): string | null {
  switch (kind) {
    case 'resolved':
      return null;
    case 'invalid_handle':
      return 'This is no handle of the public network. Check its spelling, or give the DID.';
    case 'not_found':
      return 'This handle names no account: neither its DNS nor its own site names a DID. Check its spelling, or give the DID.';
    case 'unconfirmed':
      return 'This handle points to an account that does not claim it, so it is not taken for its name. Give the DID.';
    case 'failed':
      return 'Whose handle this is could not be found out just now. Try again, or give the DID.';
  }
}

/** What is said of a text that is neither. */
export const neither = `That is neither a handle nor a DID. A handle looks like alice.bsky.social; a DID is ${didInWords}.`;

/** What is said where handles are not taken. */
export const didOnly = `Handles are not looked up here. Give the DID of the account: ${didInWords}.`;
