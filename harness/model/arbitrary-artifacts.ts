import fc from 'fast-check';
import { fixture } from '../artifacts/fixtures.ts';
import type { Json, JsonObject } from './values.ts';

/** Generates artifacts of the four schemas as their producers may write them. Values are often at their limits. */

const base = Date.UTC(2026, 10, 20, 12) * 1000;
const microsPerSecond = 1_000_000;

/** Formats the timestamp that is `micros` microseconds after the base time. */
function stamp(micros: number, zone = 'Z'): string {
  const at = base + micros;
  const ms = Math.floor(at / 1000);
  const text = new Date(ms).toISOString().slice(0, 19);
  const fraction = String(at - Math.floor(at / microsPerSecond) * microsPerSecond).padStart(6, '0');
  return `${text}${/^0*$/.test(fraction) ? '' : `.${fraction}`}${zone}`;
}

const zone = fc.constantFrom('Z', 'Z', 'Z', '+00:00');
const near = fc.oneof(
  fc.constantFrom(0, 1, -1, 500, 999, 1000, 999_999),
  fc.integer({ min: -90_000_000, max: 90_000_000 }),
);
const generatedAt: fc.Arbitrary<Json> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(near, zone).map(([micros, end]) => stamp(micros, end)) },
  { weight: 1, arbitrary: fc.constantFrom<Json>('yesterday', '2026-11-20T12:00:00', '2026-11-20T12:00:00+01:00', '') },
);
const time = fc
  .tuple(fc.integer({ min: -40 * 86_400, max: 60 }), zone)
  .map(([s, end]) => stamp(s * microsPerSecond, end));
const count = fc.oneof(fc.nat(1000), fc.constantFrom(0, 1, 2 ** 53 - 1));
const rate = fc.oneof(fc.constantFrom(0, 0.5, 1, 1e-7, 86_400), fc.double({ min: 0, max: 1e9, noNaN: true }));
const words = fc.constantFrom('a plain sentence', '', 'Größe · 10 %', 'quotes " and \\', '日本', 'a\u0000b');
const texts = fc.array(words, { maxLength: 3 });
const labelers = ['did:plc:ar7c4by46qjdydhdevvrndac', 'did:plc:newitj5jo3uel7o4mnf3vj2o', 'did:web:labels.example.com'];
const top = fc.array(fc.record({ labeler_did: fc.constantFrom(...labelers), count }), { maxLength: 10 });
const reason = fc.constantFrom(
  ...['not_observed', 'source_unavailable', 'ingest_paused', 'cursor_reset', 'maintenance', 'warmup', 'unknown', 'new'],
);
/** Swaps the bounds of an interval if they are out of order. */
function inOrder<T extends { start: string; end: string }>(made: T): T {
  return made.start <= made.end ? made : { ...made, start: made.end, end: made.start };
}
const gap = fc.record({ start: time, end: time, reason }).map(inOrder);
const gaps = fc.oneof(
  { weight: 12, arbitrary: fc.array(gap, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(gap, fc.constantFrom(127, 128, 129, 200)).map(([one, n]) => Array(n).fill(one)) },
);
const counts = (...names: string[]) => fc.record(Object.fromEntries(names.map((name) => [name, count])));
const sources = fc
  .record(
    Object.fromEntries(
      Object.keys((fixture('recent').coverage as { sources: object }).sources).map((name) => [name, count]),
    ),
    {
      requiredKeys: [
        ...['enrolled', 'unstarted', 'probing', 'refused', 'established', 'pre_epoch_skipped', 'undated_skipped'],
        ...['late_skipped', 'cursor_order_unverified', 'undated_only', 'provider_rejects', 'unavailable'],
      ],
    },
  )
  // Set the number of sources with unknown coverage to zero in most artifacts.
  .chain((made) => fc.constantFrom(made, { ...made, ...noneUnknown }, { ...made, ...noneUnknown }));
const noneUnknown = {
  ...{ unstarted: 0, probing: 0, refused: 0, cursor_order_unverified: 0 },
  ...{ undated_only: 0, provider_rejects: 0, unavailable: 0 },
};

const coverage = fc.record({
  status: fc.constantFrom('warming_up', 'gapped', 'no_recorded_gaps', 'no_recorded_gaps', 'unknown', 'serene'),
  observed_days: fc.constantFrom(0, 29, 30, 30, 30, 31),
  observed_through: fc.oneof(
    { weight: 10, arbitrary: fc.tuple(near, zone).map(([micros, end]) => stamp(micros - 12_000_000, end)) },
    { weight: 1, arbitrary: fc.constantFrom<Json>(null, 'soon', '2026-11-20T12:00:00-01:00', '2027-01-01T00:00:00Z') },
  ),
  warmup: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: gap }),
  gaps,
  gap_overflow: fc.constantFrom(false, false, false, false, false, true),
  sources,
});

const recent = fc.record(
  {
    schema: fc.constant('labels.recent-overview.v1'),
    generated_at: generatedAt,
    hold: fc.constantFrom(false, false, false, true),
    window_days: fc.constantFrom(30, 30, 30, 1, 45),
    acquisition: fc.record({
      generation_id: fc.constantFrom('0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11', '0F5C1C1E-7A43-4A3E-9A34-2F9A9A6D1B11'),
      started_at: time,
      basis: fc.constant('local_acceptance_clock'),
    }),
    coverage,
    counts: counts('events_24h', 'events_7d', 'events_window', 'labelers_active_7d', 'labelers_active_window'),
    labeler_count: count,
    top_labelers_7d: top,
    does_not_measure: texts,
    caveats: texts,
    origin: fc.constantFrom('live', 'simulated', 'sample'),
  },
  { noNullPrototype: true, requiredKeys: requiredBut('recent', 'hold', 'origin') },
);

function requiredBut(name: 'recent', ...free: string[]) {
  return Object.keys(fixture(name)).filter((key) => !free.includes(key)) as never[];
}

const signals = fc.uniqueArray(
  fc.constantFrom('noisy', 'churny', 'conflicted', 'degraded', 'calm', 'calm', 'under-observed', 'unobserved', 'foggy'),
  { maxLength: 4 },
);
const byRule = fc.dictionary(
  fc.constantFrom('churn_index', 'flip_flop', 'data_gap', 'Bad Rule', 'x', 'r'.repeat(64), 'r'.repeat(65), '9lives'),
  fc.oneof({ weight: 20, arbitrary: fc.nat(100_000) }, fc.constant(2 ** 53 - 1)),
  { maxKeys: 4 },
);
const tally = (...names: string[]) =>
  fc.dictionary(
    fc.constantFrom(...names, 'new', 'newer'),
    fc.oneof({ weight: 20, arbitrary: fc.nat(1000) }, fc.constant(2 ** 53 - 1)),
    { maxKeys: 5 },
  );

const legacy = fc
  .record(
    {
      generated_at: generatedAt,
      hold: fc.constantFrom(false, true),
      window_days: fc.constantFrom(1, 30),
      alert_count: count,
      labeler_count: count,
      alerts_by_rule_24h: byRule,
      alerts_by_rule_7d: byRule,
      census: fc.record({
        auditability: tally('high', 'medium', 'low'),
        classification_confidence: tally('high', 'medium', 'low', 'unknown'),
        reachability_state: tally('accessible', 'auth_required', 'down', 'unknown'),
        visibility_class: tally('declared', 'protocol_public', 'observed_only', 'unresolved'),
      }),
      network_weather: fc.record({ signals, attribution: words, supports_negative_claim: fc.boolean() }),
      observation: fc.record({
        adequacy: fc.constantFrom('adequate', 'partial', 'unobserved'),
        coverage_threshold: rate,
        reason: words,
        last_attempt_ts: fc.oneof(time, fc.constant(null)),
        last_success_ts: fc.oneof(time, fc.constant('never')),
        ...Object.fromEntries(
          [
            ...['attempts', 'successes', 'labelers_accessible', 'labelers_adequate', 'labelers_attempted'],
            ...['labelers_degraded', 'labelers_unattempted', 'window_minutes'],
          ].map((name) => [name, count]),
        ),
      }),
      heartbeats: fc.record(
        Object.fromEntries(
          ['discovery', 'ingest', 'report', 'scan'].map((name) => [
            `last_${name}_ok_ts`,
            fc.oneof({ weight: 4, arbitrary: time }, fc.constantFrom<Json>(null, 'never', '2026-11-20T12:00:00')),
          ]),
        ),
      ),
      top_labelers_7d: top,
    },
    {
      noNullPrototype: true,
      requiredKeys: [
        ...(['generated_at', 'alert_count', 'labeler_count', 'census', 'network_weather'] as const),
        ...(['heartbeats', 'top_labelers_7d', 'alerts_by_rule_24h'] as const),
      ],
    },
  )
  // Add fields of the legacy observatory that must not be published.
  .map((made) => ({ ...legacyRest, ...made }));
const legacyRest = { schema_version: 23, api_version: 'v0', last_ingest: stamp(-60_000_000), test_dev_count: 21 };

/** Generates label artifacts, including artifacts of the legacy observatory. */
export const labelArtifact = fc.oneof(
  { weight: 2, arbitrary: recent },
  { weight: 1, arbitrary: legacy },
) as fc.Arbitrary<JsonObject>;

const condition = fc.record({
  state: fc.constantFrom('station_offline', 'unavailable', 'lull', 'calm', 'active', 'unsettled', 'severe_storm'),
  label: words,
  headline: words,
  sentence: words,
  confidence: fc.constantFrom('supported', 'thin', 'unsupported'),
  as_of: time,
});
const windowCounts = { observed_windows: count, unobserved_windows: count };
const rateOrNull = fc.oneof({ weight: 4, arbitrary: rate }, fc.constant(null));
const entry = fc.record({ total: count, mean_rate_per_s: rateOrNull, observed_seconds: rate, ...windowCounts });
const collections = fc.dictionary(
  fc.constantFrom(
    'post.create',
    'post.create.reply',
    'like.delete',
    'account.event',
    'identity.event',
    'threadgate.create',
  ),
  entry,
  { maxKeys: 4 },
);
const freshness = (maxAge: string) =>
  fc.record({
    state: fc.constantFrom('current', 'partial', 'stale', 'unavailable'),
    newest_observation_end: fc.oneof(time, fc.constant(null)),
    newest_complete_observation_end: fc.oneof(time, fc.constant(null)),
    age_seconds: rateOrNull,
    [maxAge]: count,
    basis: words,
  });

const summary = fc
  .record({
    generated_at: fc.oneof({ weight: 5, arbitrary: generatedAt }, fc.constant(null)),
    source: fc.constant({ endpoint: 'wss://jetstream.example.com/subscribe', method: 'jetstream' }),
    window: fc
      .record({
        start: time,
        end: time,
        bucket_seconds: fc.constant(60),
        span_seconds: count,
        observed_seconds: rate,
        coverage_ratio: rateOrNull,
        ...windowCounts,
      })
      .map(inOrder),
    conditions: condition,
    total_events: fc.record({ total: count, mean_rate_per_s: rateOrNull, observed_seconds: rate }),
    collections,
    freshness: freshness('max_age_seconds'),
    measures: words,
    does_not_measure: texts,
    origin: fc.constantFrom('live', 'simulated', 'sample', undefined),
  })
  .map((made) => ({ schema: 'weather.summary.v1', ...JSON.parse(JSON.stringify(made)) }));

const unixInterval = fc.constantFrom(
  { first_bucket_start: 1_787_925_180, last_bucket_end: 1_787_925_900 },
  { first_bucket_start: 0, last_bucket_end: 60 },
  { first_bucket_start: null, last_bucket_end: null },
);
const weatherwatch = fc
  .record({
    interval: fc
      .tuple(unixInterval, fc.record({ span_seconds: count, observed_seconds: rate, coverage_ratio: rateOrNull }))
      .map(([interval, rest]) => ({ ...interval, ...rest })),
    generated_at: generatedAt,
    freshness: freshness('current_threshold_seconds').map((made) => ({ ...made, newest_observation_end: '—' })),
    conditions: fc.oneof(
      { weight: 4, arbitrary: condition.map((made) => ({ ...made, icon: 'sun' })) },
      fc.constant(null),
    ),
    measures: words,
    does_not_measure: texts,
    source_endpoint: fc.constant('wss://jetstream1.us-east.bsky.network/subscribe'),
    metrics: collections,
    total_events: fc.record({ total: count, mean_rate_per_s: rateOrNull }),
  })
  .map((made) => ({ schema: 'weatherwatch.summary/v2', runs: [], notes: ['words'], ...made }));

/** Generates weather artifacts, including artifacts of the legacy observatory. */
export const weatherArtifact = fc.oneof(summary, weatherwatch) as fc.Arbitrary<JsonObject>;

/** Generates damaged artifacts. Some have changed values and usually remain readable; others have changed bytes. */

type Path = readonly (string | number)[];

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -1, 0.5, 1e308, 2 ** 53, 2 ** 53 - 1, '', 'unknown', 'calm', '2026', '—'),
  fc.constantFrom<Json>([], {}, [[]], [null], 'live', '2026-11-20T12:00:00', '2026-11-20T12:00:00+05:00'),
  fc.constantFrom<Json>('2026-02-30T00:00:00Z', '2026-11-20T24:00:00Z', '2099-01-01T00:00:00Z', 'half \ud800 a pair'),
  fc.constantFrom<Json>('did:plc:ar7c4by46qjdydhdevvrndac', 'at://did:plc:ar7c4by46qjdydhdevvrndac/a/b', 'did:web:x'),
  fc.constantFrom<Json>('words', 'gapped', 'partial', 'fresh', 'maintenance', '2026-11-20T12:00:00.123456+00:00'),
);

type Edit =
  | { readonly kind: 'replace'; readonly pick: number; readonly value: Json }
  | { readonly kind: 'remove' | 'add'; readonly pick: number };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), pick: fc.nat(), value: strange }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'add' as const), pick: fc.nat() }) },
);

const bytesDamage = fc.oneof(
  { weight: 30, arbitrary: fc.constant('none' as const) },
  { weight: 1, arbitrary: fc.constantFrom('cut', 'twice', 'repeated key', 'not UTF-8', 'an array') },
);

/** Generates the bytes of an artifact, sometimes damaged; null for a missing artifact. */
export function damaged(artifact: fc.Arbitrary<JsonObject | null>): fc.Arbitrary<Uint8Array | null> {
  const edits = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
  );
  return fc.tuple(artifact, edits, bytesDamage).map(([value, changes, damage]) => {
    if (value === null) return null;
    const edited = changes.reduce(changed, structuredClone(value));
    return Buffer.from(textOf(edited, damage), damage === 'not UTF-8' ? 'latin1' : 'utf8');
  });
}

function textOf(artifact: JsonObject, damage: string): string {
  const text = JSON.stringify(artifact);
  if (damage === 'cut') return text.slice(0, text.length / 2);
  if (damage === 'twice') return text + text;
  if (damage === 'repeated key') return text.replace(/^\{"(\w+)":/, '{"$1":null,"$1":');
  if (damage === 'not UTF-8') return text.replace(/^\{/, '{"x":"\xff",');
  return damage === 'an array' ? `[${text}]` : text;
}

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  // Change only the first elements of a long list; otherwise most changes would hit one of many gaps.
  const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.slice(0, 40).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

function changed(artifact: JsonObject, edit: Edit): JsonObject {
  const all = pathsOf(artifact).slice(1);
  const path = all[edit.pick % all.length];
  if (!path) return artifact;
  const key = path.at(-1) ?? '';
  const parent = path
    .slice(0, -1)
    .reduce<Json>((node, step) => (node as Record<string | number, Json>)[step] ?? null, artifact);
  const holder = parent as Record<string | number, Json>;
  if (edit.kind === 'replace') holder[key] = structuredClone(edit.value);
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (edit.kind === 'remove') delete holder[key];
  else holder.field_of_another_version = 'words';
  return artifact;
}
