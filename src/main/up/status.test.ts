import { expect, it } from 'vitest';
import { fixture } from '../../../harness/artifacts/fixtures.ts';
import type { RecentOverview, WeatherSummary } from '../../artifact/recognise.ts';
import type { TriedHost } from '../doctor/finding.ts';
import type { HostReport, WeatherReport } from '../weather/weather-report.ts';
import { duration, type Observed, plainDisplay, screenDisplay, showsScreen, statusOf } from './status.ts';

const start = Date.UTC(2026, 6, 4, 12);
const missing = { kind: 'missing', why: 'the file does not exist' } as const;
const running = ['facts', 'weather', 'labels'].map((name) => ({ name, state: 'running' as const, restarts: 0 }));

/** Returns the state of an observatory that has just started. */
function observed(changes: Partial<Observed> = {}): Observed {
  return {
    now: start,
    startedAt: start,
    endpoints: ['wss://jetstream.example.com/subscribe'],
    weather: missing,
    labels: missing,
    report: null,
    parts: running,
    tried: null,
    ...changes,
  };
}

/**
 * Returns the reading of a weather artifact of this host. `days` is the number of observed days of the baseline; by
 * default all days are observed.
 */
function weatherReading(endpoint: string, days?: number): Extract<Observed['weather'], { kind: 'readable' }> {
  const baseline = days === undefined ? {} : { baseline: { observed_days: days, required_days: 7 } };
  const artifact = fixture('weather') as unknown as WeatherSummary;
  const summary = { ...artifact, source: { ...artifact.source, endpoint }, ...baseline };
  return { kind: 'readable', artifact: { schema: 'weather.summary.v1', summary }, digest: '', modifiedAt: start };
}

/** Returns the reading of a label artifact whose window begins before the start of observation. */
function labelsReading() {
  const { coverage, ...rest } = fixture('recent') as unknown as RecentOverview;
  const warmup = { start: '2026-06-04T12:00:00.000Z', end: '2026-07-02T12:00:00.000Z', reason: 'warmup' as const };
  const overview = { ...rest, coverage: { ...coverage, observed_days: 2, warmup } };
  const artifact = { schema: 'labels.recent-overview.v1' as const, overview };
  return { kind: 'readable' as const, artifact, digest: '', modifiedAt: start };
}

/** Returns a report of the weather process on its hosts. The first host is published. */
function reportOf(...hosts: HostReport[]): WeatherReport {
  return { report: 'weather', hosts, failoverSince: null };
}

function texts(of: Partial<Observed>): Record<string, string> {
  return Object.fromEntries(statusOf(observed(of)).map(({ name, text }) => [name, text]));
}

it('the status reports an unreachable network and its cause after a short delay', () => {
  expect(texts({})).toEqual({
    weather: 'jetstream.example.com: connecting; nothing observed yet',
    labels: 'nothing observed yet',
    parts: 'facts running; weather running; labels running',
  });
  const report = reportOf({ connected: false, cause: 'dns', lagSeconds: null });
  expect(texts({ now: start + 6_000, report })).toMatchObject({
    network:
      'cannot be reached: no connection to jetstream.example.com (the host name was not found), and no labeler responds; trying again',
    weather: 'jetstream.example.com: no connection (the host name was not found), trying again; nothing observed yet',
  });
  expect(texts({ now: start + 6_000 }).network).toMatch(/no response yet/);
});

it('the status names no condition once the weather artifact is older than its instrument allows', () => {
  const weather = weatherReading('wss://jetstream.example.com/subscribe');
  const { summary } = weather.artifact as { summary: WeatherSummary };
  const written = Date.parse(String(summary.generated_at));
  const limit = (summary.freshness.max_age_seconds ?? 0) - (summary.freshness.age_seconds ?? 0);
  const textAt = (seconds: number) => texts({ weather, now: written + seconds * 1000 }).weather;
  expect(textAt(limit)).toMatch(/99\.7 % of the last 24 h observed, active/);
  expect(textAt(limit + 3_600)).toMatch(/; the last artifact is 6\d min old: not current$/);
});

it('the status does not report an unreachable network while one of its parts responds', () => {
  const report = reportOf({ connected: true, cause: null, lagSeconds: 0.4 });
  expect(texts({ now: start + 60_000, report })).toMatchObject({
    weather: 'jetstream.example.com: connected, 0.4 s behind; nothing observed yet',
  });
  expect(texts({ now: start + 60_000, report })).not.toHaveProperty('network');
});

it('until the network responds, the status names the hosts that were tried', () => {
  const tried: TriedHost[] = [
    { service: 'jetstream', host: 'jetstream.example.com', answers: false },
    { service: 'directory', host: 'plc.example.com', answers: false },
  ];
  expect(texts({ now: start + 8_000, tried }).hosts).toBe(
    'tried jetstream.example.com (jetstream), plc.example.com (directory): none of them responds; ' +
      '`almanac doctor` explains the causes and what to do',
  );
  const some = tried.map((host, i) => ({ ...host, answers: i === 1 }));
  expect(texts({ now: start + 8_000, tried: some }).hosts).toMatch(
    /^1 of 2 hosts do not respond: jetstream\.example\.com \(jetstream\);/,
  );
  const report = reportOf({ connected: true, cause: null, lagSeconds: 0.4 });
  expect(texts({ now: start + 8_000, tried, report })).not.toHaveProperty('hosts');
  // A simulated network has no host to contact.
  expect(texts({ now: start + 8_000, tried: [] })).not.toHaveProperty('hosts');
});

it('the status shows both hosts, marks the published host, and states the time of a failover', () => {
  const endpoints = ['wss://one.example/subscribe', 'wss://two.example'];
  const report: WeatherReport = {
    ...reportOf(
      { connected: false, cause: 'timeout', lagSeconds: 900 },
      { connected: true, cause: null, lagSeconds: 0.4 },
    ),
    failoverSince: start - 3_600_000,
  };
  const weather = weatherReading('wss://two.example/xrpc/network.bsky.jetstream.subscribeEvents');
  expect(texts({ endpoints, report, weather }).weather).toMatch(
    /^one\.example: no connection \(the host does not respond in time\), trying again; two\.example \(published since 2026-07-04 11:00 UTC\): connected, 0\.4 s behind; /,
  );
  const before = { endpoints, report: { ...report, failoverSince: null }, weather: weatherReading(endpoints[0] ?? '') };
  expect(texts(before).weather).toMatch(/^one\.example \(published\): .*; two\.example: connected/);
});

it('the status shows the progress of the baseline and of the label window until both are complete', () => {
  const labels = labelsReading();
  expect(texts({ weather: weatherReading('wss://one.example', 2), labels }).progress).toBe(
    'conditions need 7 days of baseline: 2 of 7 days observed; ' +
      'the label window needs 30 days: 2 of 30 days observed',
  );
  expect(texts({ weather: weatherReading('wss://one.example') })).not.toHaveProperty('progress');
});

it('the status reports a part that exited and how often it was restarted', () => {
  const parts = [
    { name: 'facts', state: 'running', restarts: 2 },
    { name: 'labels', state: 'waiting', restarts: 0 },
  ] as const;
  expect(texts({ parts }).parts).toBe('facts running, restarted 2 times; labels ended and is about to restart');
});

it('the plain display prints a line when a state changes, but not when only numbers change', () => {
  const printed: string[] = [];
  const display = plainDisplay((line) => printed.push(line));
  display.show([{ name: 'weather', text: 'connected, 0.4 s behind', news: 'connected' }]);
  display.show([{ name: 'weather', text: 'connected, 0.9 s behind', news: 'connected' }]);
  display.show([{ name: 'weather', text: 'no connection', news: 'none' }]);
  expect(printed).toEqual(['weather: connected, 0.4 s behind', 'weather: no connection']);
});

it('the screen display redraws in place with one write, and wraps lines that are wider than the terminal', () => {
  const written: string[] = [];
  const display = screenDisplay({ columns: 31, write: (text) => written.push(text) }, ['almanac up']);
  const line = { name: 'labels', text: 'one two three four five six', news: '' };
  display.show([line]);
  display.show([line]);
  const rows = 'almanac up\u001b[K\nlabels   one two three four\u001b[K\n         five six\u001b[K\n\u001b[J';
  expect(written).toEqual([`\r${rows}`, `\u001b[3A\r${rows}`]);
});

it('an observatory shows a screen in a terminal unless an environment variable requests plain output', () => {
  expect(showsScreen(true, { TERM: 'xterm' })).toBe(true);
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }]) expect(showsScreen(true, env)).toBe(false);
  expect(showsScreen(false, {})).toBe(false);
});

it('durations are rounded and shown in a single unit', () => {
  expect([0.04, 12, 119, 300, 7_300, 200_000].map(duration)).toEqual([
    '0.0 s',
    '12 s',
    '119 s',
    '5 min',
    '2 h',
    '2 days',
  ]);
});
