import type { HeaderList } from '../../http/headers.ts';
import type { Reply } from '../../http/reply.ts';
import type { Catalogue } from './catalogue.ts';
import { isHandleText } from './project-labeler.ts';
import { maxSearchBytes } from './query.ts';

/** Redirects the path of a handle, which people type, to the path of a DID. */

/** Returns the handle in a path, in lower case; null if the text is not a handle that the list can be searched for. */
export function handleIn(name: string): string | null {
  const handle = name.replace(/^(?:@|%40)/, '').toLowerCase();
  return isHandleText(handle) && handle.length <= maxSearchBytes ? handle : null;
}

/**
 * Redirects from `/labelers/HANDLE` to the page of the labeler whose confirmed handle it is, or to the search for the
 * handle if no confirmed handle or several of them match.
 */
export function handleRedirect(handle: string, { entries }: Catalogue, common: HeaderList): Reply {
  const named = entries.filter((entry) => entry.handle?.confirmed && entry.handle.name.toLowerCase() === handle);
  const [only] = named;
  const location = named.length === 1 && only ? `./${only.did}` : `../labelers?q=${handle}`;
  // The labeler that has a handle may change, so no cache may keep the redirection.
  const headers = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0', ...common];
  return { status: 302, headers, body: null };
}
