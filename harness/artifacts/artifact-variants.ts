import fc from 'fast-check';
import { coverageStatuses, gapReasons, origins, weatherFreshnessStates } from '../../src/contract/vocabulary.ts';
import { type ArtifactFixture, fixture, type JsonObject } from './fixtures.ts';

/** Generates variants of every kind of artifact, with other numbers and with changed or omitted fields. */

const number = fc.oneof(
  fc.constantFrom(0, 1, 0.4, 59.999, 60, 0.000_04, 0.999_999, 1e15, 1e300, Number.MAX_SAFE_INTEGER),
  fc.nat({ max: 5_000_000 }),
  fc.double({ min: 0, max: 100_000, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

/** Numeric fields that are not measurements or that have bounds. `renumbered` leaves them unchanged. */
const fixed = new Set(['schema_version', 'window_days', 'bucket_start', 'first_bucket_start', 'last_bucket_end']);

function renumbered(value: unknown, numbers: readonly number[], next: { at: number }, key = ''): unknown {
  if (typeof value === 'number' && !fixed.has(key)) {
    const other = numbers[next.at++ % numbers.length] ?? 0;
    // Decide by the field name whether a number is a count: JSON does not distinguish 5.0 from 5.
    return /seconds$|ratio$|rate_per_s$|threshold$/.test(key) && key !== 'bucket_seconds'
      ? other
      : Math.min(Number.MAX_SAFE_INTEGER, Math.floor(other));
  }
  if (Array.isArray(value)) return value.map((member) => renumbered(member, numbers, next));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, renumbered(member, numbers, next, name)]),
  );
}

type Change = (artifact: JsonObject) => void;

function object(artifact: JsonObject, key: string): JsonObject {
  return artifact[key] as JsonObject;
}

/** Generates a change of one field of an artifact, or of one of its objects. */
function changed(path: readonly string[], values: fc.Arbitrary<unknown>): fc.Arbitrary<Change> {
  return values.map((value) => (artifact) => {
    const [name = ''] = path.slice(-1);
    Object.assign(path.slice(0, -1).reduce(object, artifact), { [name]: value });
  });
}

/** Generates the change that assigns fields to an artifact, or to one of its objects. */
function assigned(fields: object, ...path: readonly string[]): fc.Arbitrary<Change> {
  return fc.constant((artifact) => void Object.assign(path.reduce(object, artifact), fields));
}

const day = 86_400_000;

/** Generates an interval that starts between 31 days before and one day after the fixtures' `generated_at`. */
const stretch = fc
  .tuple(fc.integer({ min: -31 * day, max: day }), fc.nat({ max: 3 * day }), fc.constantFrom(...gapReasons, 'novel'))
  .map(([start, length, reason]) => ({
    start: new Date(Date.parse('2026-11-20T12:00:00Z') + start).toISOString(),
    end: new Date(Date.parse('2026-11-20T12:00:00Z') + start + length).toISOString(),
    reason,
  }));

const changes: Readonly<Record<ArtifactFixture, fc.Arbitrary<Change>>> = {
  recent: fc.oneof(
    changed(['coverage', 'gaps'], fc.array(stretch, { maxLength: 140 })),
    changed(['coverage', 'warmup'], stretch),
    changed(['coverage', 'status'], fc.constantFrom(...coverageStatuses)),
    changed(['origin'], fc.constantFrom(...origins)),
    changed(['window_days'], fc.integer({ min: 1, max: 400 })),
    assigned({ top_labelers_7d: [], caveats: ['twice 2', 'twice 2', '‮3'] }),
    assigned({ hold: true }),
    assigned({ observed_through: null }, 'coverage'),
  ),
  legacy: fc.oneof(
    fc.constantFrom('observation', 'alerts_by_rule_24h', 'alerts_by_rule_7d').map(
      (key): Change =>
        (a) =>
          delete a[key],
    ),
    assigned({ top_labelers_7d: [] }),
    assigned({ window_days: 7 }),
  ),
  weather: fc.oneof(
    assigned({ collections: {} }),
    assigned({ 'like.create': null }, 'collections'),
    fc.constant<Change>((a) => Object.assign(object(a, 'collections')['post.create'] ?? {}, { mean_rate_per_s: null })),
    assigned({ total: null, mean_rate_per_s: null }, 'total_events'),
    assigned({ coverage_ratio: null }, 'window'),
    assigned({ generated_at: null }),
    changed(['freshness', 'state'], fc.constantFrom(...weatherFreshnessStates)),
    changed(['origin'], fc.constantFrom(...origins)),
  ),
  weatherwatch: fc.oneof(
    assigned({ conditions: null }),
    assigned({ metrics: {} }),
    assigned({ first_bucket_start: null, last_bucket_end: null, coverage_ratio: null }, 'interval'),
    assigned({ age_seconds: null, basis: null }, 'freshness'),
  ),
};

/** Generates variants of one of the known artifacts. */
export function variantsOf(name: ArtifactFixture): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.option(fc.array(number, { minLength: 97, maxLength: 97 })), fc.array(changes[name], { maxLength: 3 }))
    .map(([numbers, list]) => {
      const artifact = numbers ? (renumbered(fixture(name), numbers, { at: 0 }) as JsonObject) : fixture(name);
      for (const change of list) change(artifact);
      return artifact;
    });
}
