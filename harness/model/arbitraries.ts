import fc from 'fast-check';
import { damaged, labelArtifact, weatherArtifact } from './arbitrary-artifacts.ts';
import type { JsonObject } from './values.ts';

/** Generates cases for the model of the facts API: two artifacts, and requests at times near their limits. */

/** Two artifacts, and the requests to send while they are served. */
export interface Case {
  readonly world: number;
  readonly labels: Uint8Array | null;
  readonly weather: Uint8Array | null;
  readonly modifiedMs: number;
  readonly steps: readonly Step[];
}

/** One request, and the time at which it is sent. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly base: 'kept' | 'dropped' | 'doubled';
  readonly query: string;
  readonly absolute: boolean;
  readonly validator: Validator;
  readonly acceptEncoding: string | undefined;
  readonly clock: Clock;
}

/**
 * A time near a limit: a number of seconds after a timestamp of the artifact or after the last request, with an offset
 * of less than a second.
 */
interface Clock {
  readonly after: 'generated_at' | 'observed_through' | 'the last request';
  readonly seconds: number;
  readonly ms: number;
}

/** Kind of `If-None-Match` header. Most kinds contain the current ETag of the path. */
export type Validator =
  | 'none'
  | 'same'
  | 'strong'
  | 'listed'
  | 'star'
  | 'star in a list'
  | 'unquoted'
  | 'small w'
  | 'of another'
  | 'unclosed'
  | 'after a comma'
  | 'without a comma'
  | 'text';

const weighted = <T>(...entries: readonly (readonly [weight: number, ...values: T[]])[]): fc.Arbitrary<T> =>
  fc.oneof(...entries.map(([weight, ...values]) => ({ weight, arbitrary: fc.constantFrom(...values) })));

const method = weighted<string>(
  [24, 'GET'],
  [3, 'HEAD'],
  [1, 'OPTIONS'],
  [1, 'POST', 'PUT', 'PATCH', 'DELETE', 'get', 'TRACE', 'PROPFIND', 'QUERY', 'Head'],
);
const path = weighted<string>(
  [14, '/v1/labels/overview'],
  [6, '/v1/weather/conditions', '/v1/weather/metrics'],
  [3, '/v1/instruments'],
  [1, '/health', '/openapi.json'],
  [1, '/v1', '/v1/', '/v1/labels', '/v1/labels/overview/', '/V1/labels/overview', '/v1/Labels/overview'],
  [1, '/v1/labels%2Foverview', '/v1/%6cabels/overview', '/v1//labels/overview', '//v1/labels/overview'],
  [1, '/v1/./labels/overview', '/v1/x/../labels/overview', '/v2/labels/overview', '/v1/drift', '/v1/labels/overview;a'],
  [1, '/v1/labels/did:plc:ar7c4by46qjdydhdevvrndac', '/healthz', '/v1/weather', '/v1/instruments/labels', '/admin'],
);
const query = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  fc.constantFrom('?', '?x=1', '?did=did:plc:ar7c4by46qjdydhdevvrndac', '?a=/v1/instruments', '??', '?%', '?days=7'),
);
const validator = weighted<Validator>(
  [10, 'none'],
  [8, 'same'],
  [2, 'strong', 'listed', 'star', 'after a comma'],
  [1, 'star in a list', 'unquoted', 'small w', 'of another', 'unclosed', 'without a comma', 'text'],
);
const acceptEncoding = weighted<string | undefined>(
  [20, undefined],
  [1, 'br', 'gzip', 'gzip, deflate, br', 'identity', '', '*', 'br;q=0', 'gzip;q=0.5, br;q=0', 'deflate', 'BR, GZip'],
  [1, '*;q=0', 'identity;q=0, gzip', 'br;q=0.001', 'gzip;q=0, *', 'x', 'gzip ; q=1', ','],
);
const clock: fc.Arbitrary<Clock> = fc.record({
  after: weighted<Clock['after']>([4, 'generated_at'], [2, 'observed_through'], [3, 'the last request']),
  seconds: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1, 30, 59, 60, 61, 119, 120, 3600) },
    { weight: 6, arbitrary: fc.constantFrom(-300, -301, -299, 90, 7200, 7199, 100, 600, 3599) },
    { weight: 1, arbitrary: fc.constantFrom(-86_400, 604_800, 5_000_000) },
    { weight: 3, arbitrary: fc.integer({ min: -400, max: 8000 }) },
  ),
  ms: fc.oneof(fc.constantFrom(0, 0, -1, 1), fc.integer({ min: -999, max: 999 })),
});

const step: fc.Arbitrary<Step> = fc.record({
  method,
  path,
  base: weighted<Step['base']>([20, 'kept'], [1, 'dropped', 'doubled']),
  query,
  absolute: weighted([19, false], [1, true]),
  validator,
  acceptEncoding,
  clock,
});

const missing: fc.Arbitrary<JsonObject | null> = fc.constant(null);

/** Generates cases for the facts API. */
export const caseOf: fc.Arbitrary<Case> = fc.record({
  world: fc.nat(2),
  labels: damaged(fc.oneof({ weight: 40, arbitrary: labelArtifact }, missing)),
  weather: damaged(fc.oneof({ weight: 40, arbitrary: weatherArtifact }, missing)),
  modifiedMs: fc.integer({ min: -5_000, max: 100_000 }),
  steps: fc.array(step, { minLength: 2, maxLength: 6 }),
});
