import type { Reading } from '../../artifact/reading.ts';
import type { LabelArtifact, RecentOverview, WeatherArtifact, WeatherSummary } from '../../artifact/recognise.ts';
import { currencyAfter } from '../../client/currency.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { agreeing } from '../../web/format.ts';
import { describeTried, hostOf, type TriedHost } from '../doctor/finding.ts';
import type { HostReport, WeatherReport } from '../weather/weather-report.ts';
import type { PartState } from './supervisor.ts';

/** Input for the state of an observatory. Instants are in milliseconds since 1970. */
export interface Observed {
  readonly now: number;
  readonly startedAt: number;
  /** Addresses of the Jetstream hosts, the preferred one first. */
  readonly endpoints: readonly string[];
  readonly weather: Reading<WeatherArtifact>;
  readonly labels: Reading<LabelArtifact>;
  /** Last report of the weather process. Null before the first report and after the process has exited. */
  readonly report: WeatherReport | null;
  readonly parts: readonly PartState[];
  /**
   * Hosts that were contacted because no part of the network responded. Null if no host was contacted, and while a part
   * of the network responds.
   */
  readonly tried: readonly TriedHost[] | null;
}

/** One line of the displayed state. */
interface StatusLine {
  readonly name: string;
  readonly text: string;
  /** Text that triggers a new log line when it changes. It contains no constantly changing numbers. */
  readonly news: string;
}

/** Time after which a connection that is still pending is reported, in milliseconds. */
const patienceMs = 5_000;

/** Returns the lines that describe the state of an observatory. */
export function statusOf(observed: Observed): StatusLine[] {
  const lines = [networkLine, hostsLine, weatherLine, labelsLine, progressLine].map((line) => line(observed));
  return [...lines, partsLine(observed.parts)].filter((line) => line !== null);
}

/** Returns true while no part of the network responds. */
export function isUnanswered({ report, labels }: Pick<Observed, 'report' | 'labels'>): boolean {
  const overview = overviewOf(labels);
  const isAnswering = overview !== null && overview.coverage.sources.established > 0;
  return !isConnected(report) && !isAnswering;
}

function isConnected(report: WeatherReport | null): boolean {
  return report?.hosts.some(({ connected }) => connected) === true;
}

/**
 * Reports an unreachable network. Returns null if any part of the network responds, and during the first `patienceMs`
 * after the start.
 */
function networkLine(observed: Observed): StatusLine | null {
  const { now, startedAt, report, endpoints } = observed;
  if (!isUnanswered(observed) || now - startedAt < patienceMs) return null;
  const missing = endpoints.map((endpoint, place) => {
    const why = describeCause(report?.hosts[place]?.cause ?? null);
    return { host: `${hostOf(endpoint)} (${why})`, why };
  });
  return {
    name: 'network',
    text: `cannot be reached: no connection to ${missing.map(({ host }) => host).join(' or ')}, and no labeler responds; trying again`,
    news: `unreachable ${missing.map(({ why }) => why).join()}`,
  };
}

/** Names every host that was contacted. Returns null unless the network is unreachable. */
function hostsLine(observed: Observed): StatusLine | null {
  const { tried } = observed;
  // A simulated network has no host to contact.
  if (tried === null || tried.length === 0 || !isUnanswered(observed)) return null;
  const text = `${describeTried(tried)}; \`almanac doctor\` explains the causes and what to do`;
  return { name: 'hosts', text, news: text };
}

/** Reports how much of the baseline and of the label window is observed. Returns null once both are complete. */
function progressLine({ weather, labels }: Observed): StatusLine | null {
  const summary = summaryOf(weather);
  const overview = overviewOf(labels);
  const parts = [
    ...(summary?.baseline === undefined
      ? []
      : [
          `conditions need ${summary.baseline.required_days} days of baseline: ` +
            `${summary.baseline.observed_days} of ${summary.baseline.required_days} days observed`,
        ]),
    ...(overview === null || overview.coverage.warmup === null
      ? []
      : [
          `the label window needs ${overview.window_days} days: ` +
            `${overview.coverage.observed_days} of ${overview.window_days} days observed`,
        ]),
  ];
  return parts.length === 0 ? null : { name: 'progress', text: parts.join('; '), news: parts.join() };
}

function weatherLine(observed: Observed): StatusLine {
  const { report, endpoints, now, startedAt } = observed;
  const summary = summaryOf(observed.weather);
  const hosts = endpoints.map((endpoint, place) =>
    describeHost(observed, { endpoint, place, published: summary?.source.endpoint }),
  );
  const age = secondsSince(summary?.generated_at, now);
  const isOld = summary !== null && hasBecomeOld(summary, age);
  const seen =
    summary === null || summary.window.observed_seconds === 0
      ? 'nothing observed yet'
      : isOld
        ? `the last artifact is ${duration(age ?? 0)} old: not current`
        : `${percent(summary.window.coverage_ratio)} of the last 24 h observed, ${conditionOf(summary)}`;
  const connections = endpoints.map((_, place) => describeConnection(report?.hosts[place] ?? null, now - startedAt));
  return {
    name: 'weather',
    text: `${hosts.join('; ')}; ${seen}`,
    news: `${connections.join()} ${summary?.source.endpoint ?? ''} ${summary?.conditions.state ?? ''} ${isOld}`,
  };
}

/** Describes one Jetstream host. If there are two hosts, states which of them is published. */
function describeHost(
  { report, endpoints, now, startedAt }: Observed,
  { endpoint, place, published }: { endpoint: string; place: number; published: string | undefined },
): string {
  const host = hostOf(endpoint);
  const state = report?.hosts[place] ?? null;
  const isPublished = endpoints.length > 1 && published !== undefined && hostOf(published) === host;
  const since = place === 1 && isPublished && report?.failoverSince ? ` since ${minuteOf(report.failoverSince)}` : '';
  const lag = state?.connected === true && state.lagSeconds !== null ? `, ${duration(state.lagSeconds)} behind` : '';
  return `${host}${isPublished ? ` (published${since})` : ''}: ${describeConnection(state, now - startedAt)}${lag}`;
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

function describeConnection(host: HostReport | null, upMs: number): string {
  if (host?.connected === true) return 'connected';
  if (host?.cause) return `no connection (${describeCause(host.cause)}), trying again`;
  return upMs < patienceMs ? 'connecting' : 'no connection (no response yet), trying again';
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

function describeCause(cause: string | null): string {
  return cause === null ? 'no response yet' : (causes[cause] ?? cause.replaceAll('_', ' '));
}

/** Returns true if the artifact was current when it was written, but is now older than its instrument allows. */
function hasBecomeOld({ freshness }: WeatherSummary, age: number | null): boolean {
  return freshness.state !== 'stale' && currencyAfter({ age_seconds: age, freshness }, 0) === 'old';
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

function percent(ratio: number | null): string {
  return ratio === null ? 'none' : `${(Math.floor(ratio * 1000) / 10).toFixed(1)} %`;
}

function day(timestamp: string): string {
  return timestamp.slice(0, 10);
}

/** Formats a time, in milliseconds since 1970, as UTC to the minute. */
function minuteOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
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

/** Shows the state of an observatory. */
interface Display {
  show(lines: readonly StatusLine[]): void;
}

/** The subset of a terminal stream that the screen uses. */
interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

const csi = '\u001b[';

/**
 * Creates a display of one screen in a terminal. A single write redraws the screen in place, which avoids flicker. Rows
 * are wrapped at the terminal's width, because a row that the terminal itself wraps would shift the next redraw.
 */
export function screenDisplay(terminal: Terminal, head: readonly string[]): Display {
  let drawn = 0;
  return {
    show(lines) {
      const width = terminal.columns ?? 80;
      const rows = [...head, ...lines.map(({ name, text }) => `${name.padEnd(9)}${text}`)].flatMap((row) =>
        wrapped(row, width - 1),
      );
      const up = drawn > 0 ? `${csi}${drawn}A` : '';
      terminal.write(`${up}\r${rows.map((row) => `${row}${csi}K\n`).join('')}${csi}J`);
      drawn = rows.length;
    },
  };
}

/** Creates a display of plain lines. A line is printed only when its `news` changes. */
export function plainDisplay(print: (line: string) => void): Display {
  const printedNews = new Map<string, string>();
  return {
    show(lines) {
      for (const { name, text, news } of lines) {
        if (printedNews.get(name) === news) continue;
        printedNews.set(name, news);
        print(`${name}: ${text}`);
      }
      for (const name of printedNews.keys()) if (!lines.some((line) => line.name === name)) printedNews.delete(name);
    },
  };
}

/** Returns true if a stream is a terminal and no environment variable requests plain output. */
export function showsScreen(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb' && !env.CI;
}

/** Splits a row into rows of at most the given width. */
function wrapped(row: string, width: number): string[] {
  const indent = ' '.repeat(9);
  const rows: string[] = [];
  let rest = row;
  while (rest.length > width && width > 2 * indent.length) {
    const space = rest.lastIndexOf(' ', width);
    const cut = space > indent.length ? space : width;
    rows.push(rest.slice(0, cut));
    rest = `${indent}${rest.slice(cut).trimStart()}`;
  }
  return [...rows, rest.slice(0, Math.max(1, width))];
}
