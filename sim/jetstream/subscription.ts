import type { Species } from '../events/metrics.ts';

/** What a consumer asked for. */
export interface Subscription {
  /** As it stood in the query; null for live. */
  readonly cursor: number | null;
  /** NSIDs, or prefixes that end in `.*`; empty for all. */
  readonly wantedCollections: readonly string[];
  /** Frames come as binary messages, each compressed with the host's dictionary. */
  readonly compressed: boolean;
}

/** Most collections that one subscription may name. */
const maxCollections = 100;
const unsupported = ['wantedDids', 'maxMessageSizeBytes', 'requireHello'];

/** What a handshake asks for, and what the host offers. */
export interface Request {
  readonly target: URL;
  readonly socketEncoding: string | undefined;
  readonly offersCompression: boolean;
}

/** Reads a request's query. A text instead of a subscription is the reason for a 400. */
export function readSubscription({ target, socketEncoding, offersCompression }: Request): Subscription | string {
  const { searchParams: query } = target;
  const compressed = query.get('compress') === 'true' || (socketEncoding?.includes('zstd') ?? false);
  if (compressed && !offersCompression) return 'compression is not offered';
  const strange = unsupported.find((name) => query.has(name));
  if (strange !== undefined) return `${strange} is not offered`;
  const wantedCollections = query.getAll('wantedCollections').filter((one) => one !== '');
  if (wantedCollections.length > maxCollections) return `too many wantedCollections: at most ${maxCollections}`;
  const wrong = wantedCollections.find((one) => !/^[a-zA-Z0-9.-]+(?:\.\*)?$/.test(one));
  if (wrong !== undefined) return 'invalid wantedCollections';
  const text = query.get('cursor');
  if (text === null || text === '') return { cursor: null, wantedCollections, compressed };
  if (!/^-?\d{1,18}$/.test(text)) return 'invalid cursor';
  return { cursor: Number(text), wantedCollections, compressed };
}

/** Whether a frame passes; account and identity events, and what is no event at all, always do. */
export function passes(wantedCollections: readonly string[], { collection }: Species): boolean {
  if (wantedCollections.length === 0 || collection === null) return true;
  return wantedCollections.some((wanted) =>
    wanted.endsWith('.*') ? collection.startsWith(wanted.slice(0, -1)) : collection === wanted,
  );
}
