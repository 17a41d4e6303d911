import type { ArtifactSource, Readable, Reading } from '../artifact/reading.ts';
import type { LabelArtifact, WeatherArtifact } from '../artifact/recognise.ts';
import type {
  FactEnvelope,
  LabelFreshness,
  LabelsOverview,
  WeatherConditionsEnvelope,
  WeatherMetricsEnvelope,
} from '../contract/envelope.ts';
import { type ErrorCode, errorBody } from '../contract/errors.ts';
import { contractIds, type FactContractId } from '../contract/identifiers.ts';
import { bucketSeconds } from '../contract/limits.ts';
import { formatTimestamp, type microsFromMillis, parseTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import type { Origin } from '../contract/vocabulary.ts';
import type { HeaderList } from '../http/reply.ts';
import { ageSeconds, type FreshnessBounds, type Judgement, judgeLabels, labelEvidence } from './judge.ts';
import { projectLabels } from './project-labels.ts';
import { originOfWeather, projectWeather } from './project-weather.ts';
import { ageBucket, entityTag, type Representation, represent } from './representation.ts';
import type { ObservatoryFacts, Shown } from './shown-facts.ts';

/** Result of a fact endpoint at one instant. */
export type Outcome =
  | { readonly kind: 'served'; readonly representation: Representation }
  | {
      readonly kind: 'refused';
      /** Error code of the refusal. `internal_error`: the fact could not be built; the log states the reason. */
      readonly code: Extract<ErrorCode, 'source_unavailable' | 'source_stale' | 'source_held' | 'internal_error'>;
      readonly freshness?: LabelFreshness;
      /**
       * Origin of the refused artifact, or of the last artifact that was read before it; absent if none was read. A
       * refusal of simulated facts must not be shown as a refusal of live facts.
       */
      readonly origin?: Origin;
    };

/** Returns the origin of an outcome, or null if it is not known. */
export function originOfOutcome(outcome: Outcome): Origin | null {
  if (outcome.kind === 'refused') return outcome.origin ?? null;
  return outcome.representation.envelope.provenance.origin ?? 'live';
}

/** A fact endpoint: a function of the time (milliseconds since 1970), evaluated at every request. */
export type FactResource = (now: number) => Outcome;

/**
 * Creates a function that caches the representation of the last requested artifact and age bucket. A failed build is
 * also cached: the same error is thrown again, so that clients cannot trigger repeated builds.
 */
export function keepOne<A>(build: (readable: Readable<A>, bucket: number, now: number) => Representation) {
  let kept: { reading: Reading<A>; bucket: number; builtAt: number; built: () => Representation } | undefined;
  return (reading: Readable<A>, bucket: number, now: number): Representation => {
    // Build again if the clock was set back, because a response must not contain future times.
    if (kept?.reading !== reading || kept.bucket !== bucket || now < kept.builtAt) {
      kept = { reading, bucket, builtAt: now, built: attempt(() => build(reading, bucket, now)) };
    }
    return kept.built();
  };
}

function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Creates a function that caches its last result. It computes a new result only if its argument is a different object.
 */
export function oncePer<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  let last: { key: K; value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}

/**
 * Creates a function that returns the origin of a reading: of the artifact, or of the last artifact that was read before
 * it if the reading has none. Returns an empty object if no artifact was read.
 */
function lastOrigin<A>(originIn: (artifact: A) => Origin): (reading: Reading<A>) => { readonly origin?: Origin } {
  let last: { readonly origin?: Origin } = {};
  let known: Reading<A> | undefined;
  return (reading) => {
    if (reading.kind === 'readable' && reading !== known) last = { origin: originIn(reading.artifact) };
    known = reading;
    return last;
  };
}

/** Error of a fact that could not be built, with the origin of its artifact. */
class FailedBuild extends Error {
  readonly origin: Origin | undefined;

  constructor(cause: unknown, origin: Origin | undefined) {
    super('the fact could not be built', { cause });
    this.origin = origin;
  }
}

/** Returns the outcome of a fact that can be served. Throws FailedBuild if its representation cannot be built. */
function served(build: () => Representation, origin: Origin | undefined): Outcome {
  try {
    return { kind: 'served', representation: build() };
  } catch (error) {
    throw new FailedBuild(error, origin);
  }
}

/**
 * Wraps a resource so that a failed build becomes a refusal. Calls `alarm` once for each failure, however many requests
 * encounter it.
 */
export function refusing(resource: FactResource, alarm: (error: unknown) => void): FactResource {
  let alarmed: unknown;
  let last: { readonly origin?: Origin } = {};
  return (now) => {
    try {
      const outcome = resource(now);
      const origin = originOfOutcome(outcome);
      last = origin === null ? {} : { origin };
      return outcome;
    } catch (error) {
      const [cause, origin] = error instanceof FailedBuild ? [error.cause, error.origin] : [error, undefined];
      if (cause !== alarmed) alarm(cause);
      alarmed = cause;
      return { kind: 'refused', code: 'internal_error', ...(origin === undefined ? last : { origin }) };
    }
  };
}

/** Error codes for the freshness states in which the label overview is refused. */
export const labelRefusals = { stale: 'source_stale', held: 'source_held', unavailable: 'source_unavailable' } as const;

/**
 * Creates the resource of the label overview. Freshness is computed at every request. A refusal is decided before
 * conditional headers are evaluated.
 */
export function labelsResource(
  source: ArtifactSource<LabelArtifact>,
  bounds: FreshnessBounds,
  common: HeaderList,
): FactResource {
  const evidenceOf = oncePer((reading: Readable<LabelArtifact>) => labelEvidence(reading.artifact));
  const representationOf = keepOne<LabelArtifact>((reading, bucket, now) =>
    represent(
      labelsEnvelope(reading.artifact, judgeLabels(evidenceOf(reading), bounds, now), now),
      entityTag(contractIds.labelsOverview, reading.digest, bucket),
      { modifiedAt: reading.modifiedAt, builtAt: now, headers: common },
    ),
  );

  const origin = labelsOrigin();
  return (now) => {
    const reading = source.read();
    const from = origin(reading);
    if (reading.kind !== 'readable') return { kind: 'refused', code: 'source_unavailable', ...from };
    const judgement = judgeLabels(evidenceOf(reading), bounds, now);
    if (!judgement.servable) {
      return { kind: 'refused', code: labelRefusals[judgement.state], freshness: judgement.freshness, ...from };
    }
    return served(() => representationOf(reading, ageBucket(judgement.ageSeconds), now), from.origin);
  };
}

/** Creates the function that returns the origin of a reading of the label overview. */
export function labelsOrigin() {
  // The legacy producer states no origin and observes the live network.
  return lastOrigin<LabelArtifact>((artifact) =>
    artifact.schema === '23' ? 'live' : (artifact.overview.origin ?? 'live'),
  );
}

/** Returns the envelope of a servable label artifact. */
export function labelsEnvelope(artifact: LabelArtifact, judgement: Judgement, now: number): LabelsOverview {
  const { overview } = artifact;
  return {
    contract: contractIds.labelsOverview,
    instrument: 'labels',
    generated_at: usableTimestamp(overview.generated_at),
    retrieved_at: formatTimestamp(now),
    age_seconds: judgement.freshness.age_seconds,
    ...projectLabels(artifact),
    freshness: judgement.freshness,
  };
}

/** `generated_at` of a weather artifact. A fact without a time is served; a fact with an unusable time is refused. */
type WeatherTime =
  | { readonly kind: 'known'; readonly text: string; readonly at: ReturnType<typeof microsFromMillis> }
  | { readonly kind: 'not_said' }
  | { readonly kind: 'unusable' };

/** Parses `generated_at` of either weather artifact. */
export function weatherTime(artifact: WeatherArtifact): WeatherTime {
  const text = artifact.summary.generated_at;
  if (text === null) return { kind: 'not_said' };
  const at = parseTimestamp(text);
  return typeof text !== 'string' || at === null ? { kind: 'unusable' } : { kind: 'known', text, at };
}

type Fact = 'weatherConditions' | 'weatherMetrics';

/**
 * Creates the resource of one of the two weather facts. Weather freshness is copied rather than recomputed, so a fact
 * is refused only if the artifact is not readable or its `generated_at` is unusable.
 */
export function weatherResource(fact: Fact, source: ArtifactSource<WeatherArtifact>, common: HeaderList): FactResource {
  const timeOf = oncePer((reading: Readable<WeatherArtifact>) => weatherTime(reading.artifact));
  const representationOf = keepOne<WeatherArtifact>((reading, bucket, now) =>
    represent(
      weatherEnvelope(fact, reading.artifact, timeOf(reading), now),
      entityTag(contractIds[fact], reading.digest, bucket),
      { modifiedAt: reading.modifiedAt, builtAt: now, headers: common },
    ),
  );

  const origin = lastOrigin(originOfWeather);
  return (now) => {
    const reading = source.read();
    const from = origin(reading);
    if (reading.kind !== 'readable') return { kind: 'refused', code: 'source_unavailable', ...from };
    const time = timeOf(reading);
    if (time.kind === 'unusable') return { kind: 'refused', code: 'source_unavailable', ...from };
    // An artifact without a time has no age. Use the minute of the request as its bucket.
    const bucket = ageBucket(time.kind === 'known' ? ageSeconds(time.at, now) : now / 1000);
    return served(() => representationOf(reading, bucket, now), from.origin);
  };
}

/** Returns the envelope of one of the two weather facts. */
export function weatherEnvelope(
  fact: Fact,
  artifact: WeatherArtifact,
  time: WeatherTime,
  now: number,
): WeatherConditionsEnvelope | WeatherMetricsEnvelope {
  const age = time.kind === 'known' ? ageSeconds(time.at, now) : null;
  const { conditions, window, totalEvents, collections, ...tail } = projectWeather(artifact, age !== null && age < 0);
  const head = {
    instrument: 'weather' as const,
    generated_at: time.kind === 'known' ? time.text : null,
    retrieved_at: formatTimestamp(now),
    age_seconds: age,
  };
  return fact === 'weatherConditions'
    ? {
        contract: contractIds.weatherConditions,
        ...head,
        facts: { conditions, window, total_events: totalEvents },
        ...tail,
      }
    : {
        contract: contractIds.weatherMetrics,
        ...head,
        facts: { window, collections, total_events: totalEvents },
        ...tail,
      };
}

/** Outcomes of the three fact endpoints at one instant. */
export interface FactOutcomes {
  readonly conditions: Outcome;
  readonly metrics: Outcome;
  readonly labels: Outcome;
}

/** Renders the facts at the time `now` (milliseconds since 1970). */
type Render<V> = (facts: ObservatoryFacts, outcomes: FactOutcomes, now: number) => V;

/**
 * Creates a function that renders the three facts and caches the result until the artifact or age bucket of a fact
 * changes. A refusal is rendered again every minute, because the ages in it change. `marksAt` returns identifiers of
 * everything else that the result depends on.
 */
export function keepPerOutcomes<V>(
  render: Render<V>,
  marksAt: (now: number, outcomes: FactOutcomes) => readonly unknown[] = () => [],
) {
  let kept: { marks: readonly unknown[]; builtAt: number; value: V } | undefined;
  return (outcomes: FactOutcomes, now: number): V => {
    const facts = [outcomes.conditions, outcomes.metrics, outcomes.labels].map(markOf);
    const marks = [...facts, ...marksAt(now, outcomes)];
    const known = kept;
    // Render again if the clock was set back, because a response must not contain future times.
    if (known && now >= known.builtAt && marks.every((mark, at) => mark === known.marks[at])) return known.value;
    const value = render(shownFacts(outcomes), outcomes, now);
    kept = { marks, builtAt: now, value };
    return value;
  };
}

/** Returns an identifier of an outcome's content. Outcomes with equal identifiers are rendered equally. */
function markOf(outcome: Outcome): unknown {
  if (outcome.kind === 'served') return outcome.representation;
  const { state, basis, age_seconds: age, collection_age_seconds: collectionAge } = outcome.freshness ?? {};
  return [outcome.code, outcome.origin, state, basis, minutes(age), minutes(collectionAge)].join(' ');
}

function minutes(age: number | null | undefined): number | undefined {
  return age === null || age === undefined ? undefined : Math.floor(age / bucketSeconds);
}

function shownFacts({ conditions, metrics, labels }: FactOutcomes): ObservatoryFacts {
  return {
    conditions: shown(conditions, contractIds.weatherConditions),
    metrics: shown(metrics, contractIds.weatherMetrics),
    labels: shown(labels, contractIds.labelsOverview),
  };
}

function shown<C extends FactContractId>(outcome: Outcome, contract: C): Shown<Extract<FactEnvelope, { contract: C }>> {
  if (outcome.kind === 'refused') {
    const { code, freshness, origin } = outcome;
    return { kind: 'refused', error: errorBody(code, freshness).error, ...(origin ? { origin } : {}) };
  }
  const { envelope } = outcome.representation;
  if (!isOf(envelope, contract)) throw new Error('the envelope of a fact has the wrong contract');
  return { kind: 'served', envelope };
}

/** Returns true if the envelope has the given contract. */
export function isOf<C extends FactContractId>(
  envelope: FactEnvelope,
  contract: C,
): envelope is Extract<FactEnvelope, { contract: C }> {
  return envelope.contract === contract;
}
