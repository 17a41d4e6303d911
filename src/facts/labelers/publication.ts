import type { LabelersReading } from '../../artifact/labelers/labelers-source.ts';
import type { ArtifactSource } from '../../artifact/reading.ts';
import type { LabelArtifact } from '../../artifact/recognise.ts';
import { isDid } from '../../contract/identifiers.ts';
import { labelerPaths } from '../../contract/labelers.ts';
import type { HeaderList, Reply } from '../../http/reply.ts';
import type { FreshnessBounds } from '../judge.ts';
import { type Catalogue, maxSearchBytes, parseListQuery } from './catalogue.ts';
import { type Conditions, labelerDocuments, listDocuments, type RefusalFormat, refusal } from './documents.ts';
import { type Paired, pairing } from './pair.ts';
import { isHandleText } from './project-labeler.ts';

/** Dependencies of the documents and pages about labelers. */
export interface LabelersPublicationOptions {
  readonly overview: ArtifactSource<LabelArtifact>;
  readonly labelers: { read(): LabelersReading<Catalogue> };
  readonly bounds: FreshnessBounds;
  /**
   * Time in milliseconds for which the last pair is still served while the labelers of a newer overview are being read.
   */
  readonly graceMs: number;
  /** Headers that every response has. */
  readonly common: HeaderList;
  /** Called with the error if a document could not be built. Clients do not receive the error. */
  readonly alarm: (path: string, error: unknown) => void;
}

/** The documents and pages about labelers. */
export interface LabelersPublication {
  /** Returns the response for a path below the base path; null if these documents do not have that path. */
  reply(
    path: string,
    target: string,
    conditions: Conditions,
    now: number,
  ): { readonly route: string; readonly reply: Reply } | null;
  /** Builds the list before a client requests it. The caller runs it in the background. */
  warm(now: number): void;
}

/** Routes of the documents and pages about labelers, with a placeholder for the DID. */
export const labelerRoutes = {
  list: labelerPaths.list,
  page: labelerPaths.page,
  document: '/labelers/{did}.json',
  labelerPage: '/labelers/{did}',
  csv: '/labelers/{did}.csv',
  svg: '/labelers/{did}.svg',
} as const;

const routesByFormat = {
  json: labelerRoutes.document,
  page: labelerRoutes.labelerPage,
  csv: labelerRoutes.csv,
  svg: labelerRoutes.svg,
} as const;

/** Creates the documents and pages about labelers. */
export function labelersPublication(options: LabelersPublicationOptions): LabelersPublication {
  const { common, alarm } = options;
  const list = listDocuments(common);
  const labeler = labelerDocuments(common, (did, error) => alarm(`${labelerPaths.one}${did}`, error));
  const served = servedFromPairs(options);

  return {
    reply(path, target, conditions, now) {
      if (path === labelerPaths.list) {
        return {
          route: labelerRoutes.list,
          reply: served(now, 'json', (paired) => list.document(paired, conditions, now)),
        };
      }
      if (path === labelerPaths.page) {
        const respond = (): Reply =>
          served(now, { base: '.' }, (paired) => list.page(paired, parseListQuery(target), conditions, now));
        return { route: labelerRoutes.page, reply: respond() };
      }
      if (!path.startsWith(labelerPaths.one)) return null;
      const name = path.slice(labelerPaths.one.length);
      const suffix = /\.(json|csv|svg)$/.exec(name)?.[1] as 'json' | 'csv' | 'svg' | undefined;
      const did = didIn(suffix === undefined ? name : name.slice(0, -suffix.length - 1));
      if (did === null) {
        const handle = suffix === undefined ? handleIn(name) : null;
        if (handle === null) return null;
        return {
          route: labelerRoutes.labelerPage,
          reply: served(now, { base: '..' }, ({ pair }) => handleRedirect(handle, pair.labelers.prepared, common)),
        };
      }
      const format = suffix ?? 'page';
      return {
        route: routesByFormat[format],
        reply: served(now, format === 'page' ? { base: '..' } : 'json', (paired) =>
          labeler(paired, did, format, conditions, now),
        ),
      };
    },
    warm(now) {
      served(now, 'json', (paired) => {
        list.warm(paired, now);
        return { status: 204, headers: [], body: null };
      });
    },
  };
}

/**
 * Returns a response made from the current pair of artifacts, or a refusal if there is no pair or the response cannot
 * be built.
 */
type Served = (now: number, format: RefusalFormat, respond: (paired: Paired<Catalogue>) => Reply) => Reply;

function servedFromPairs(options: LabelersPublicationOptions): Served {
  const { common, alarm } = options;
  const pairAt = pairing(options);
  let alarmed: unknown;
  return (now, format, respond) => {
    const outcome = pairAt(now);
    if (outcome.kind === 'refused') return refusal(outcome.code, format, common, outcome);
    try {
      return respond(outcome);
    } catch (error) {
      // Report an error only once for each pair, because many requests may encounter it.
      if (alarmed !== outcome.pair) alarm(labelerPaths.page, error);
      alarmed = outcome.pair;
      return refusal('internal_error', format, common, { origin: outcome.pair.overview.origin ?? 'live' });
    }
  };
}

/**
 * Returns the DID in a path; null if the name is not a DID. The name is first tested without decoding, because a
 * did:web may itself contain a percent sign; otherwise it is decoded, because clients may encode the colons.
 */
function didIn(name: string): string | null {
  if (isDid(name)) return name;
  try {
    const decoded = decodeURIComponent(name);
    return isDid(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

// Redirects paths that contain a handle, which people type, to paths that contain a DID.

/** Returns the handle in a path, in lower case; null if the name is not a handle for which the list can be searched. */
function handleIn(name: string): string | null {
  const handle = name.replace(/^(?:@|%40)/, '').toLowerCase();
  return isHandleText(handle) && handle.length <= maxSearchBytes ? handle : null;
}

/**
 * Redirects from `/labelers/HANDLE` to the page of the only labeler with this confirmed handle. Without such a labeler,
 * or with several of them, redirects to the search for the handle.
 */
function handleRedirect(handle: string, { entries }: Catalogue, common: HeaderList): Reply {
  const named = entries.filter((entry) => entry.handle?.confirmed && entry.handle.name.toLowerCase() === handle);
  const [only] = named;
  const location = named.length === 1 && only ? `./${only.did}` : `../labelers?q=${handle}`;
  // The labeler that has a handle may change, so no cache may keep the redirection.
  const headers = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0', ...common];
  return { status: 302, headers, body: null };
}
