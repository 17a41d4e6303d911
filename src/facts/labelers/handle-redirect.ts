import type { HeaderList } from '../../http/headers.ts';
import type { Reply } from '../../http/reply.ts';
import type { Catalogue } from './catalogue.ts';
import { isHandleText } from './project-labeler.ts';
import { maxSearchBytes } from './query.ts';

/** Redirects paths that contain a handle, which people type, to paths that contain a DID. */

/** Returns the handle in a path, in lower case; null if the name is not a handle for which the list can be searched. */
export function handleIn(name: string): string | null {
  const handle = name.replace(/^(?:@|%40)/, '').toLowerCase();
  return isHandleText(handle) && handle.length <= maxSearchBytes ? handle : null;
}

/**
 * Redirects from `/labelers/HANDLE` to the page of the only labeler with this confirmed handle. Without such a labeler,
 * or with several of them, redirects to the search for the handle.
 */
export function handleRedirect(handle: string, { entries }: Catalogue, common: HeaderList): Reply {
  const named = entries.filter((entry) => entry.handle?.confirmed && entry.handle.name.toLowerCase() === handle);
  const [only] = named;
  const location = named.length === 1 && only ? `./${only.did}` : `../labelers?q=${handle}`;
  // The labeler that has a handle may change, so no cache may keep the redirection.
  const headers = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0', ...common];
  return { status: 302, headers, body: null };
}
