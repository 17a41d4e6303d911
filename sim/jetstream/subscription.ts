import type { Species } from '../events/metrics.ts';
import type { Filter, Wire } from '../events/wire.ts';

/** Parameters with which a consumer subscribed. */
export interface Subscription extends Filter {
  /** Cursor from the query, or null for live events only. */
  readonly cursor: number | null;
  /** True if frames are sent as binary messages, compressed with the host's dictionary. */
  readonly compressed: boolean;
}

/** Status and reason of a refused handshake. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly message: string;
}

/** Maximum number of collections in one subscription. */
const maxCollections = 100;
/** Kinds of events that a `subscribeEvents` subscription may name. */
const kinds = ['commit', 'identity', 'account', 'sync'];
const notOffered: Readonly<Record<Wire, readonly string[]>> = {
  'jetstream.legacy': ['wantedDids', 'maxMessageSizeBytes', 'requireHello'],
  'jetstream.subscribeEvents': ['wantedCollections', 'wantedDids', 'requireHello', 'dids', 'maxMessageSizeBytes'],
};

/** A handshake request, and the host options that affect it. */
interface Request {
  readonly target: URL;
  readonly socketEncoding: string | undefined;
  /** Id of the dictionary for compressed frames, or null if compression is not offered. */
  readonly dictionary: number | null;
}

/** Parses a request of the legacy protocol. Returns the text of a 400 response if the request is invalid. */
export function readSubscription({ target, socketEncoding, dictionary }: Request): Subscription | string {
  const { searchParams: query } = target;
  const compressed = query.get('compress') === 'true' || (socketEncoding?.includes('zstd') ?? false);
  if (compressed && dictionary === null) return 'compression is not offered';
  const strange = notOffered['jetstream.legacy'].find((name) => query.has(name));
  if (strange !== undefined) return `${strange} is not offered`;
  const wanted = collectionsOf(query, 'wantedCollections');
  if (typeof wanted === 'string') return wanted;
  const asked = { wire: 'jetstream.legacy', kinds: [], wantedCollections: wanted, compressed } as const;
  const text = query.get('cursor');
  if (text === null || text === '') return { ...asked, cursor: null };
  if (!/^-?\d{1,18}$/.test(text)) return 'invalid cursor';
  return { ...asked, cursor: Number(text) };
}

/** Parses a request of `subscribeEvents`. Returns a refusal if the request is invalid. */
export function readMethod({ target, dictionary }: Request): Subscription | Refusal {
  const { searchParams: query } = target;
  const invalid = (message: string): Refusal => ({ status: 400, error: 'InvalidRequest', message });
  const strange = notOffered['jetstream.subscribeEvents'].find((name) => query.has(name));
  if (strange !== undefined) return invalid(`${strange} is not offered`);
  if (query.get('compress') === 'true') return invalid('compress is not offered');
  const wanted = collectionsOf(query, 'collections');
  if (typeof wanted === 'string') return invalid(wanted);
  const wantedKinds = query.getAll('kinds');
  if (wantedKinds.some((kind) => !kinds.includes(kind))) return invalid('unknown kind');
  if (wanted.length > 0 && wantedKinds.length > 0 && !wantedKinds.includes('commit')) {
    return invalid('collections requires the kind commit');
  }
  const zstd = query.get('zstdDictionary');
  if (zstd !== null && (dictionary === null || zstd !== String(dictionary))) {
    return { status: 400, error: 'UnknownZstdDictionary', message: `no dictionary ${zstd}` };
  }
  const text = query.get('cursor');
  if (text !== null && !/^\d{1,18}$/.test(text)) return invalid('invalid cursor');
  return {
    wire: 'jetstream.subscribeEvents',
    kinds: wantedKinds,
    wantedCollections: wanted,
    compressed: zstd !== null,
    cursor: text === null ? null : Number(text),
  };
}

function collectionsOf(query: URLSearchParams, name: string): string[] | string {
  const wanted = query.getAll(name).filter((one) => one !== '');
  if (wanted.length > maxCollections) return `too many ${name}: at most ${maxCollections}`;
  return wanted.some((one) => !/^[a-zA-Z0-9.-]+(?:\.\*)?$/.test(one)) ? `invalid ${name}` : wanted;
}

/**
 * Returns true if a frame passes the filter. In the legacy protocol, account events, identity events and frames that
 * are not events always pass. `subscribeEvents` can also filter by kind.
 */
export function passes({ wire, kinds: wantedKinds, wantedCollections }: Filter, species: Species): boolean {
  if (species.methodOnly && wire === 'jetstream.legacy') return false;
  if (wantedKinds.length > 0 && !wantedKinds.includes(kindOf(species))) return false;
  const { collection } = species;
  if (wantedCollections.length === 0 || collection === null) return true;
  return wantedCollections.some((wanted) =>
    wanted.endsWith('.*') ? collection.startsWith(wanted.slice(0, -1)) : collection === wanted,
  );
}

function kindOf({ metrics }: Species): string {
  const found = kinds.find((kind) => metrics.includes(`${kind}.event` as (typeof metrics)[number]));
  return found ?? 'commit';
}
