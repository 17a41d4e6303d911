import { readFileSync, statSync } from 'node:fs';
import { decodeArtifact, type Readable, type Reading, type Recogniser } from '../../artifact/reading.ts';
import {
  type LabelArtifact,
  recogniseLabels,
  recogniseWeather,
  type WeatherArtifact,
} from '../../artifact/recognise.ts';
import type { LabelFreshness } from '../../contract/envelope.ts';
import { type ErrorCode, errorTable } from '../../contract/errors.ts';
import { paths } from '../../contract/identifiers.ts';
import { futureToleranceSeconds } from '../../contract/limits.ts';
import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { ageSeconds, type FreshnessBounds, judgeLabels, labelEvidence } from '../../facts/judge.ts';
import { describeLeak, findLeak } from '../../facts/representation.ts';
import { labelRefusals, labelsEnvelope, weatherEnvelope, weatherTime } from '../../facts/resources.ts';
import { originCaveats } from '../../facts/shown-facts.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';

/** The facts API's response for one path. */
interface Answer {
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
}

/** A reading without a publishable artifact. */
type Refusal = Exclude<Reading<never>, Readable<never>>;

/** Verdict of the facts API on an artifact. */
export interface Verdict {
  readonly verdict: 'servable' | 'refused' | 'not_an_artifact';
  /** Schema of the artifact, or null if it is unknown. */
  readonly schema: string | null;
  readonly instrument: 'labels' | 'weather' | null;
  /** Freshness state of a label artifact, or null for other artifacts. */
  readonly state: string | null;
  readonly reasons: readonly string[];
  readonly freshness: LabelFreshness | null;
  /** Further information on the artifact, such as an origin other than the live network. */
  readonly notes?: readonly string[];
  readonly answers: readonly Answer[];
}

/** Returns the verdict on a reading at `now` (milliseconds since 1970). */
export function verdictOf(
  reading: Reading<LabelArtifact | WeatherArtifact>,
  bounds: FreshnessBounds,
  now: number,
): Verdict {
  if (reading.kind !== 'readable') return unreadable(reading);
  const { artifact } = reading;
  return 'overview' in artifact ? labelsVerdict(artifact, bounds, now) : weatherVerdict(artifact, now);
}

/**
 * Returns the verdict on an unusable artifact: all facts of its instrument are refused, or all facts if the instrument
 * is unknown.
 */
function unreadable(reading: Refusal): Verdict {
  const schema = reading.kind === 'malformed' ? reading.schema : null;
  const instrument = schema === null ? null : schema.startsWith('weather') ? 'weather' : 'labels';
  const where = reading.kind === 'malformed' && reading.pointer !== '' ? ` at ${reading.pointer}` : '';
  const refused = [
    ...(instrument === 'weather' ? [] : [paths.labelsOverview]),
    ...(instrument === 'labels' ? [] : [paths.weatherConditions, paths.weatherMetrics]),
  ];
  return {
    schema,
    instrument,
    state: instrument === 'labels' ? 'unavailable' : null,
    freshness: null,
    verdict: schema !== null || reading.kind === 'unreadable' ? 'refused' : 'not_an_artifact',
    reasons: [`${reading.kind.replace('_', ' ')}${where}: ${reading.why}`],
    answers: refused.map((path) => ({ path, status: 503, code: 'source_unavailable' })),
  };
}

function labelsVerdict(artifact: LabelArtifact, bounds: FreshnessBounds, now: number): Verdict {
  const judgement = judgeLabels(labelEvidence(artifact), bounds, now);
  const { freshness } = judgement;
  const notes = artifact.schema === '23' ? [] : originNotes(artifact.overview.origin);
  const common = { schema: artifact.schema, instrument: 'labels', state: freshness.state, freshness, notes } as const;
  if (!judgement.servable) {
    const code = labelRefusals[judgement.state];
    const answers = [{ path: paths.labelsOverview, status: errorTable[code].status, code }];
    return { ...common, verdict: 'refused', reasons: [hasNoPage(artifact) ? noPage : refusal(freshness)], answers };
  }
  return scanned(common, [[paths.labelsOverview, labelsEnvelope(artifact, judgement, now)]]);
}

/** Returns a note about an artifact's origin, or an empty list if the origin is the live network. */
function originNotes(origin: Origin = 'live'): string[] {
  return origin === 'live' ? [] : [originCaveats[origin]];
}

/** Description of an unusable time in an artifact, with all possible reasons. */
const unusable = `is unusable: absent, not a UTC timestamp, or more than ${futureToleranceSeconds} s ahead of this clock`;

/** Reason given for a label artifact whose instrument has just started or has never reached a labeler. */
const noPage = 'no page of labels has been accepted yet: coverage.observed_through is null';

function hasNoPage(artifact: LabelArtifact): boolean {
  return artifact.schema !== '23' && artifact.overview.coverage.observed_through === null;
}

function refusal(freshness: LabelFreshness): string {
  const collection = freshness.basis === 'collection_observed_through';
  switch (freshness.state) {
    case 'held':
      return 'the operator withholds the artifact: hold is true';
    case 'stale':
      return collection
        ? `the collection is ${ageText(freshness.collection_age_seconds ?? null)} old, more than ${freshness.collection_max_age_seconds} s`
        : `the artifact is ${ageText(freshness.age_seconds)} old, more than ${freshness.max_age_seconds} s`;
    default:
      return `${collection ? 'coverage.observed_through' : 'generated_at'} ${unusable}`;
  }
}

function weatherVerdict(artifact: WeatherArtifact, now: number): Verdict {
  const time = weatherTime(artifact);
  const origin = originNotes(artifact.schema === 'weather.summary.v1' ? artifact.summary.origin : 'live');
  const common = { schema: artifact.schema, instrument: 'weather', state: null, freshness: null } as const;
  const both = [paths.weatherConditions, paths.weatherMetrics];
  if (time.kind === 'unusable') {
    const answers = both.map((path) => ({ path, status: 503, code: 'source_unavailable' as const }));
    return { ...common, notes: origin, verdict: 'refused', reasons: [`generated_at ${unusable}`], answers };
  }
  const age =
    time.kind === 'not_said'
      ? ['generated_at is null: served without an age']
      : [
          `written ${ageSeconds(time.at, now)} s ago${time.at > microsFromMillis(now) ? ', ahead of this clock' : ''}; weather is never refused for its age`,
        ];
  return scanned({ ...common, notes: [...origin, ...age] }, [
    [paths.weatherConditions, weatherEnvelope('weatherConditions', artifact, time, now)],
    [paths.weatherMetrics, weatherEnvelope('weatherMetrics', artifact, time, now)],
  ]);
}

/** Completes a verdict with the result of the privacy scan, which the facts API also applies. */
function scanned(common: Omit<Verdict, 'verdict' | 'reasons' | 'answers'>, facts: [string, object][]): Verdict {
  const leaks = facts.map(([path, envelope]) => ({ path, leak: findLeak(envelope) }));
  const reasons = leaks.flatMap(({ path, leak }) => (leak ? [`${path}: ${describeLeak(leak)}`] : []));
  const answers = leaks.map(({ path, leak }) =>
    leak ? { path, status: 500, code: 'internal_error' as const } : { path, status: 200, code: null },
  );
  return { ...common, verdict: reasons.length === 0 ? 'servable' : 'refused', reasons, answers };
}

function ageText(seconds: number | null): string {
  return seconds === null ? 'unusable' : `${Math.floor(seconds)} s`;
}

/** Formats the verdict for a person. */
export function explain(file: string, verdict: Verdict): string {
  const lines = [`${file}: ${verdict.verdict.replaceAll('_', ' ')}`];
  if (verdict.schema !== null) lines.push(`  schema      ${verdict.schema} (${verdict.instrument})`);
  if (verdict.state !== null) lines.push(`  state       ${verdict.state}`);
  for (const reason of verdict.reasons) lines.push(`  because     ${reason}`);
  for (const note of verdict.notes ?? []) lines.push(`  note        ${note}`);
  if (verdict.freshness) {
    lines.push(
      `  age         ${ageText(verdict.freshness.age_seconds)} of at most ${verdict.freshness.max_age_seconds} s`,
    );
    if (verdict.freshness.collection_age_seconds !== undefined) {
      const { collection_age_seconds: age, collection_max_age_seconds: max } = verdict.freshness;
      lines.push(`  collection  ${ageText(age)} of at most ${max} s`);
    }
  }
  for (const { path, status, code } of verdict.answers)
    lines.push(`  GET ${path} -> ${status}${code ? ` ${code}` : ''}`);
  return lines.join('\n');
}

/**
 * Reads an artifact file of either instrument exactly as the facts API would. Throws OperatorError if the file cannot
 * be read.
 */
export function readArtifact(file: string, maxBytes: number): Reading<LabelArtifact | WeatherArtifact> {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new OperatorError(`not a file: ${file}`);
    if (stats.size > maxBytes) return { kind: 'unreadable', why: `it is larger than ${maxBytes} bytes` };
    return decodeArtifact(readFileSync(file), stats.mtimeMs, recogniseAny);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${file}: ${systemWords(error)}`);
  }
}

/** Recognizes the artifact of either instrument, because the arguments of `check` do not name the instrument. */
const recogniseAny: Recogniser<LabelArtifact | WeatherArtifact> = (value) => {
  const labels = recogniseLabels(value);
  return labels.kind === 'unknown_schema' ? recogniseWeather(value) : labels;
};
