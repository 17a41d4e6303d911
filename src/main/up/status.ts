import type { Reading } from '../../artifact/reading.ts';
import type { RecentOverview } from '../../artifact/recent-overview.ts';
import type { LabelArtifact, WeatherArtifact } from '../../artifact/recognise.ts';
import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { agreeing } from '../../web/format.ts';
import type { WeatherReport } from '../weather/weather-report.ts';
import type { PartState } from './supervisor.ts';

/** Input for the state of an observatory. Instants in milliseconds since 1970. */
export interface Observed {
  readonly now: number;
  readonly startedAt: number;
  /** Address of the Jetstream host. */
  readonly endpoint: string;
  readonly weather: Reading<WeatherArtifact>;
  readonly labels: Reading<LabelArtifact>;
  /** Last report of the weather process; null before the first, and after the process ended. */
  readonly report: WeatherReport | null;
  readonly parts: readonly PartState[];
}

/** One line of the state. */
export interface StatusLine {
  readonly name: string;
  readonly text: string;
  /** Changes if something deserves a new line in a log; figures do not. */
  readonly news: string;
}

/** Time until a pending connection is reported, in milliseconds. */
const patienceMs = 5_000;

/** Describes the state of an observatory. */
export function statusOf(observed: Observed): StatusLine[] {
  return [networkLine(observed), weatherLine(observed), labelsLine(observed), partsLine(observed.parts)].filter(
    (line) => line !== null,
  );
}

/** Reports an unreachable network, the first thing that an operator has to know; null if any part responds. */
function networkLine(observed: Observed): StatusLine | null {
  const { now, startedAt, report, endpoint } = observed;
  const overview = overviewOf(observed.labels);
  const answering = overview !== null && overview.coverage.sources.established > 0;
  if (report?.connected === true || answering || now - startedAt < patienceMs) return null;
  const why = wordsOf(report?.cause ?? null);
  return {
    name: 'network',
    text: `cannot be reached: no connection to ${hostOf(endpoint)} (${why}), and no labeler answers; trying again`,
    news: `unreachable ${why}`,
  };
}

function weatherLine(observed: Observed): StatusLine {
  const { report, endpoint, now, startedAt } = observed;
  const summary = summaryOf(observed.weather);
  const host = hostOf(endpoint);
  const connection = describeConnection(report, now - startedAt);
  const seen =
    summary === null || summary.window.observed_seconds === 0
      ? 'nothing observed yet'
      : `${percent(summary.window.coverage_ratio)} of the last 24 h observed, ${conditionOf(summary)}`;
  const lag = report?.connected === true && report.lagSeconds !== null ? `, ${duration(report.lagSeconds)} behind` : '';
  return {
    name: 'weather',
    text: `${host}: ${connection}${lag}; ${seen}`,
    news: `${connection} ${summary?.conditions.state ?? ''}`,
  };
}

function labelsLine({ labels, now }: Observed): StatusLine {
  const overview = overviewOf(labels);
  if (overview === null) return { name: 'labels', text: 'nothing observed yet', news: 'nothing' };
  const { coverage, counts, acquisition, hold } = overview;
  const { sources, status } = coverage;
  const age = secondsSince(coverage.observed_through, now);
  const parts = [
    ...(hold === true ? ['HELD'] : []),
    `since ${day(acquisition.started_at)}`,
    `${sources.established} of ${sources.enrolled} labelers ${agreeing(sources.established, 'is', 'are')} read`,
    `${counts.events_window} events in the window`,
    describeCoverage(coverage.gaps.length, coverage.warmup !== null, coverage.observed_days, overview.window_days),
    age === null ? 'no page accepted yet' : `last page ${duration(age)} ago`,
  ];
  return { name: 'labels', text: parts.join(', '), news: `${String(hold)} ${status} ${sources.established > 0}` };
}

function partsLine(parts: readonly PartState[]): StatusLine {
  const words = parts.map(({ name, state, restarts }) => {
    const again = restarts > 0 ? `, restarted ${restarts} ${restarts === 1 ? 'time' : 'times'}` : '';
    return `${name} ${state === 'waiting' ? 'ended and is about to restart' : state}${again}`;
  });
  return {
    name: 'parts',
    text: words.join('; '),
    news: parts.map(({ name, state, restarts }) => `${name} ${state} ${restarts}`).join(),
  };
}

function describeConnection(report: WeatherReport | null, upMs: number): string {
  if (report?.connected === true) return 'connected';
  if (report?.cause) return `no connection (${wordsOf(report.cause)}), trying again`;
  return upMs < patienceMs ? 'connecting' : 'no connection (no answer yet), trying again';
}

const causes: Readonly<Record<string, string>> = {
  dns: 'the host name was not found',
  connect: 'the host does not accept connections',
  timeout: 'the host does not respond in time',
  tls: "the host's certificate or encryption is invalid",
  handshake: 'the host does not speak the protocol',
  handshake_status: 'the host refused the connection',
  silence: 'the host stopped sending',
};

function wordsOf(cause: string | null): string {
  return cause === null ? 'no answer yet' : (causes[cause] ?? cause.replaceAll('_', ' '));
}

function conditionOf({ conditions, freshness }: WeatherSummary): string {
  const doubt = conditions.confidence === 'supported' ? '' : ` (${conditions.confidence})`;
  return `${conditions.label.toLowerCase()}${doubt}${freshness.state === 'current' ? '' : `, ${freshness.state}`}`;
}

function describeCoverage(gaps: number, warmup: boolean, days: number, windowDays: number): string {
  const gapped = gaps === 0 ? 'no gap recorded' : `${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
  return warmup ? `warming up (${days} of ${windowDays} days), ${gapped}` : gapped;
}

function summaryOf(reading: Reading<WeatherArtifact>): WeatherSummary | null {
  if (reading.kind !== 'readable' || reading.artifact.schema !== 'weather.summary.v1') return null;
  return reading.artifact.summary;
}

function overviewOf(reading: Reading<LabelArtifact>): RecentOverview | null {
  if (reading.kind !== 'readable' || reading.artifact.schema !== 'labels.recent-overview.v1') return null;
  return reading.artifact.overview;
}

function hostOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).host : endpoint;
}

function percent(ratio: number | null): string {
  return ratio === null ? 'none' : `${(Math.floor(ratio * 1000) / 10).toFixed(1)} %`;
}

function day(timestamp: string): string {
  return timestamp.slice(0, 10);
}

function secondsSince(timestamp: unknown, now: number): number | null {
  const at = parseTimestamp(timestamp);
  return at === null ? null : Math.max(0, now / 1000 - at / 1e6);
}

/** Formats a duration for people: rounded, in its largest unit. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
