import { readingOf } from './artifact-model.ts';
import {
  clockInstant,
  floorDivide,
  type Instrument,
  instant,
  type JsonObject,
  type Reading,
  seconds,
} from './values.ts';

/**
 * A model of the facts API, derived from the contract. It computes the required response from a request and its time.
 */

/** Maximum age of an artifact and of the data in it, in seconds. */
export interface Bounds {
  readonly maxAgeSeconds: number;
  readonly collectionMaxAgeSeconds: number;
}

/** Everything on which a response depends except the request and its time. */
export interface World {
  readonly artifacts: Readonly<Record<Instrument, Uint8Array | null>>;
  readonly bounds: Bounds;
  readonly basePath: string;
}

/** The parts of a request that affect its response. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
  readonly acceptEncoding: string | undefined;
}

/**
 * The required response. The body contains the time at which the representation was built; `bodyAt` takes this time.
 */
export type Expected =
  | { readonly kind: 'options' | 'health' | 'asset' }
  | { readonly kind: 'refused method' }
  | { readonly kind: 'error'; readonly status: number; readonly code: string; readonly freshness?: JsonObject }
  | { readonly kind: 'index'; readonly body: JsonObject }
  | { readonly kind: 'fact'; readonly path: string; readonly bucket: string; bodyAt(builtAt: number): Envelope }
  | { readonly kind: 'not modified'; readonly path: string; readonly bucket: string };

/** The body of a fact, with the artifact's own caveats and the values that determine which fixed caveats are added. */
export interface Envelope {
  readonly body: JsonObject;
  readonly caveats: {
    readonly schema: Reading['schema'];
    readonly origin: string;
    readonly ahead: boolean;
    readonly own: readonly string[];
  };
}

const factPaths: Readonly<Record<string, { readonly instrument: Instrument; readonly contract: string }>> = {
  '/v1/labels/overview': { instrument: 'labels', contract: 'atproto.facts.labels.overview/v1' },
  '/v1/weather/conditions': { instrument: 'weather', contract: 'atproto.facts.weather.conditions/v1' },
  '/v1/weather/metrics': { instrument: 'weather', contract: 'atproto.facts.weather.metrics/v1' },
};
const tolerance = 300_000_000_000n;
const minute = 60_000_000_000n;

/**
 * Returns the required response to a request at time `now`. `validatorOf` returns the ETag of a fact's age bucket if it
 * is known.
 */
export function expectedOf(
  world: World,
  request: Request,
  now: number,
  validatorOf: (path: string, bucket: string) => string | null,
): Expected {
  if (request.method === 'OPTIONS') return { kind: 'options' };
  if (request.method !== 'GET' && request.method !== 'HEAD') return { kind: 'refused method' };
  const path = pathOf(request.target, world.basePath);
  if (path === '/health') return { kind: 'health' };
  if (path === '/openapi.json') return { kind: 'asset' };
  if (path === '/v1/instruments') return { kind: 'index', body: indexOf(world, now) };
  const fact = path === null ? undefined : factPaths[path];
  if (path === null || !fact) return { kind: 'error', status: 404, code: 'not_found' };
  return expectedFact(world, request, now, path, validatorOf);
}

/**
 * Returns the path below the base path, or null if the target is outside it. Ignores the query, and accepts targets in
 * absolute form.
 */
function pathOf(target: string, basePath: string): string | null {
  const origin = target.replace(/^https?:\/\/[^/?]*/, '');
  const path = origin.split('?', 1)[0] ?? '';
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : null;
}

function expectedFact(
  world: World,
  request: Request,
  now: number,
  path: string,
  validatorOf: (path: string, bucket: string) => string | null,
): Expected {
  const { instrument } = factPaths[path] ?? { instrument: 'labels' as const };
  const reading = readingOf(instrument, world.artifacts[instrument]);
  const unavailable = { kind: 'error', status: 503, code: 'source_unavailable' } as const;
  if (reading === null) return unavailable;
  if (reading.label !== null) {
    const freshness = labelFreshness(reading, world.bounds, now);
    const code = `source_${freshness.state}`;
    if (freshness.state !== 'fresh' && freshness.state !== 'warming_up') {
      return { kind: 'error', status: 503, code, freshness };
    }
  } else if (reading.generatedAt !== null && instant(reading.generatedAt) === null) return unavailable;
  if (namesSubject(envelopeOf(world, reading, path, now)))
    return { kind: 'error', status: 500, code: 'internal_error' };
  const bucket = bucketOf(reading, now);
  const etag = validatorOf(path, bucket);
  if (request.ifNoneMatch !== undefined && etagMatches(request.ifNoneMatch, etag)) {
    return { kind: 'not modified', path, bucket };
  }
  return { kind: 'fact', path, bucket, bodyAt: (builtAt) => envelopeOf(world, reading, path, builtAt) };
}

function bucketOf(reading: Reading, now: number): string {
  const made = instant(reading.generatedAt);
  return made === null
    ? `clock ${floorDivide(clockInstant(now), minute)}`
    : `age ${floorDivide(clockInstant(now) - made, minute)}`;
}

function envelopeOf(world: World, reading: Reading, path: string, now: number): Envelope {
  const made = instant(reading.generatedAt);
  const age = made === null ? null : clockInstant(now) - made;
  const body: JsonObject = {
    contract: factPaths[path]?.contract ?? '',
    instrument: factPaths[path]?.instrument ?? '',
    generated_at: made === null ? null : String(reading.generatedAt),
    retrieved_at: new Date(now).toISOString(),
    age_seconds: age === null ? null : seconds(age),
    facts: reading.facts[path] ?? {},
    provenance: reading.provenance,
    freshness: reading.label === null ? (reading.freshness ?? {}) : labelFreshness(reading, world.bounds, now),
  };
  const ahead = reading.label === null && age !== null && age < 0n;
  return { body, caveats: { schema: reading.schema, origin: reading.origin, ahead, own: reading.caveats } };
}

/**
 * Returns true if a fact contains any AT-URI, or a DID outside the list of labelers. This is the last check before
 * publication.
 */
function namesSubject({ body, caveats }: Envelope): boolean {
  const texts = JSON.stringify([body, caveats.own], (key, value: unknown) =>
    key === 'labeler_did' ? undefined : value,
  );
  return /did:[a-z]+:[A-Za-z0-9._:%-]/.test(texts) || texts.includes('at://');
}

/** Returns the Freshness object of a label artifact. The first state that applies is used. */
function labelFreshness(reading: Reading, bounds: Bounds, now: number): JsonObject {
  const label = reading.label ?? { hold: false, warming: false, observedThrough: undefined };
  const at = clockInstant(now);
  const made = usable(reading.generatedAt, at);
  const isRecent = reading.schema === 'recent';
  const observed = isRecent ? usable(label.observedThrough, at) : at;
  const age = made === null ? null : at - made;
  const collectionAge = observed === null ? null : at - observed;
  const judge = (): [state: string, basis: string] => {
    const [byArtifact, byCollection] = ['artifact_generated_at', 'collection_observed_through'];
    if (age === null) return ['unavailable', byArtifact];
    if (collectionAge === null) return ['unavailable', byCollection];
    if (label.hold) return ['held', byArtifact];
    if (age > BigInt(bounds.maxAgeSeconds) * 1_000_000_000n) return ['stale', byArtifact];
    if (collectionAge > BigInt(bounds.collectionMaxAgeSeconds) * 1_000_000_000n) return ['stale', byCollection];
    return [label.warming ? 'warming_up' : 'fresh', byArtifact];
  };
  const [state, basis] = judge();
  return {
    state,
    age_seconds: age === null ? null : seconds(age),
    basis,
    max_age_seconds: bounds.maxAgeSeconds,
    ...(isRecent && {
      collection_age_seconds: collectionAge === null ? null : seconds(collectionAge),
      collection_max_age_seconds: bounds.collectionMaxAgeSeconds,
    }),
  };
}

function usable(timestamp: unknown, now: bigint): bigint | null {
  const found = instant(timestamp);
  return found !== null && found - now <= tolerance ? found : null;
}

function indexOf(world: World, now: number): JsonObject {
  const item = (instrument: Instrument): JsonObject => {
    const endpoints = Object.keys(factPaths).filter((path) => factPaths[path]?.instrument === instrument);
    const reading = readingOf(instrument, world.artifacts[instrument]);
    if (reading === null) return { instrument, state: 'UNAVAILABLE', generated_at: null, endpoints };
    if (reading.label === null) {
      const generated_at = instant(reading.generatedAt) === null ? null : String(reading.generatedAt);
      return { instrument, state: 'PRESENT', generated_at, endpoints };
    }
    // Omit a time that is too far in the future: only the label instrument treats such a time as unusable.
    const generated_at = usable(reading.generatedAt, clockInstant(now)) === null ? null : String(reading.generatedAt);
    const freshness_state = labelFreshness(reading, world.bounds, now).state ?? '';
    return { instrument, state: 'PRESENT', generated_at, endpoints, freshness_state };
  };
  const drift = { instrument: 'drift', state: 'NOT_PUBLISHED', generated_at: null, endpoints: [] };
  return {
    contract: 'atproto.facts.instruments/v1',
    retrieved_at: new Date(now).toISOString(),
    instruments: [item('weather'), item('labels'), drift],
  };
}

/**
 * Returns true if an `If-None-Match` header matches an entity tag by the weak comparison of RFC 9110. A malformed entry
 * matches nothing and leaves the other entries valid; RFC 9110 does not define this case.
 */
function etagMatches(header: string, etag: string | null): boolean {
  const trimmed = header.replace(/^[ \t]+|[ \t]+$/g, '');
  const opaque = etag?.replace(/^W\//, '');
  return trimmed === '*' || (opaque !== undefined && opaqueTags(trimmed).includes(opaque));
}

/** Returns the quoted parts of the entries that are entity tags. A comma within quotes does not end an entry. */
function opaqueTags(header: string): string[] {
  const members = header.match(/(?:W\/)?"[^"]*"[^,]*|[^,]+/g) ?? [];
  const tags = members.map((member) => /^[ \t]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*$/.exec(member)?.[1]);
  return tags.filter((tag) => tag !== undefined);
}
