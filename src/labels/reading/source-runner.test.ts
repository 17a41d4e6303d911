import { expect, test } from 'vitest';
import { scriptedPorts } from '../../../harness/labels/label-reader.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { StoreError } from '../../store/errors.ts';
import type { PositionChange } from '../../store/port.ts';
import { day, micros, minute } from '../../store/time.ts';
import type { AcceptedPage, ReaderPorts } from '../ingest/ports.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { noPosition } from '../state/reading-events.ts';
import { untracked } from '../state/reading-state.ts';
import { Source } from '../state/source.ts';
import { Tracker } from '../state/tracker.ts';
import { containReading } from './read-source.ts';
import { SourceRunner } from './source-runner.ts';

const http: Pick<HttpClient, 'getJson'> = { getJson: () => Promise.resolve({ kind: 'aborted' }) };

/** Creates a runner with stored positions, and the list of the changes of positions that it commits. */
function runnerWith(stored: readonly (readonly [did: string, endpoint: string])[]) {
  const commits: (readonly PositionChange[])[] = [];
  const { ports } = scriptedPorts({
    http: http as HttpClient,
    openStream: () => Promise.reject(new ConnectError('dns', 'no such name')),
    accept: ({ positions }: AcceptedPage) => Promise.resolve(commits.push(positions) * 0),
  });
  const runner = new SourceRunner(ports, new AbortController().signal, () => undefined);
  for (const [did, endpoint] of stored) runner.keep(did, endpoint, noPosition);
  return { runner, commits };
}

test('the positions of labelers that left the roster are removed once, and the positions of known labelers stay', async () => {
  const { runner, commits } = runnerWith([
    ['did:plc:gone', 'https://a.example'],
    ['did:plc:gone', 'https://b.example'],
    ['did:plc:known', 'https://c.example'],
  ]);
  const isKnown = (did: string): boolean => did === 'did:plc:known';
  await runner.forgetUnknown(isKnown);
  await runner.forgetUnknown(isKnown);
  expect(commits).toEqual([
    [
      { source: 'did:plc:gone', endpoint: 'https://a.example', value: null },
      { source: 'did:plc:gone', endpoint: 'https://b.example', value: null },
    ],
  ]);
});

test('the positions of very many labelers are removed in commits of a bounded size', async () => {
  const { runner, commits } = runnerWith(
    Array.from({ length: 1_200 }, (_, at) => [`did:plc:${at}`, 'https://a.example']),
  );
  await runner.forgetUnknown(() => false);
  expect(commits.map(({ length }) => length)).toEqual([500, 500, 200]);
});

test.each([
  ['whose first page was not read before a restart', noPosition],
  ['that was used earlier', { ...noPosition, cursor: 7, cursorTail: 'x' }],
])(
  'a labeler that moved to an endpoint %s has a gap if the last row of the former endpoint is missing there',
  async (_, own) => {
    const asked: string[] = [];
    const recorded = Promise.withResolvers<unknown>();
    const empty: Pick<HttpClient, 'getJson'> = {
      getJson: (url) => {
        asked.push(String(url));
        return Promise.resolve({ kind: 'json', status: 200, date: null, value: { labels: [] } });
      },
    };
    const { ports } = scriptedPorts({
      http: empty as HttpClient,
      openStream: () => Promise.reject(new ConnectError('dns', 'no such name')),
      gaps: { change: ({ gap }) => Promise.resolve(recorded.resolve(gap)) },
    });
    const stop = new AbortController();
    const runner = new SourceRunner(ports, stop.signal, recorded.reject);
    const former = { ...noPosition, cursor: 50, cursorTail: 'f'.repeat(32) };
    const [moved, endpoint] = ['did:plc:a', 'https://l.example'] as const;
    if (own === noPosition) runner.keep(moved, 'https://former.example', former);
    runner.keep(moved, endpoint, own);
    if (own !== noPosition) runner.keep(moved, 'https://former.example', former);
    runner.follow({
      ...{ did: moved, origin: 'discovered', provenance: new Set(), resolutionStatus: 'labeler', endpoint },
      ...{ pds: null, handle: null, handleConfirmed: false, denied: false },
      tracker: new Tracker(moved, untracked(micros(1_780_000_000_000_000))),
    });
    expect(await recorded.promise).toMatchObject({ source: moved, reason: 'cursor_reset' });
    expect(asked[0]).toBe('https://l.example/xrpc/com.atproto.label.queryLabels?uriPatterns=*&limit=250&cursor=49');
    stop.abort();
    await runner.ended();
  },
);

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const now = micros(20_000 * day);
const source = (): Source =>
  new Source(
    { did, endpoint: 'https://a', peer: { source: did, privileged: false } },
    new Tracker(did, untracked(now)),
    noPosition,
  );

/** Creates a reader whose attempts fail with these errors in sequence, and then succeed. */
function reading(errors: readonly Error[]) {
  const noted = { failures: 0, warnings: [] as unknown[], attempts: 0 };
  const ports = {
    time: {
      ...{ random: () => 0, clock: () => now, wait: () => Promise.resolve() },
      timings: { firstRetryMs: 1, maxRetryMs: 2 },
    },
    report: {
      telemetry: {
        sourceFailed: () => {
          noted.failures += 1;
        },
      },
      log: { warn: (...line: unknown[]) => void noted.warnings.push(line) },
    },
    gaps: { change: () => Promise.resolve() },
  } as unknown as ReaderPorts;
  const read = async () => {
    const error = errors[noted.attempts];
    noted.attempts += 1;
    if (error) throw error;
  };
  return { noted, ports, read };
}

test('an error that a source causes is counted each time and logged once, marks the source as failed, and does not end its reading', async () => {
  const { noted, ports, read } = reading([new RangeError('Maximum call stack size exceeded'), new TypeError('other')]);
  const one = source();
  await containReading(one, ports, new AbortController().signal, read);
  expect(noted).toMatchObject({ failures: 2, attempts: 3 });
  expect(noted.warnings).toHaveLength(1);
  expect(one.tracker.state).toBe('provider_rejects');
});

test('a transient error of the store is retried, and a permanent error rejects the promise of the reader', async () => {
  const signal = new AbortController().signal;
  const passing = reading([new StoreError('disk_full', 'no space left')]);
  await containReading(source(), passing.ports, signal, passing.read);
  expect(passing.noted.attempts).toBe(2);
  const { ports, read } = reading([new StoreError('damaged', 'the files are inconsistent')]);
  await expect(containReading(source(), ports, signal, read)).rejects.toThrow('inconsistent');
});

test('an error of a reader after a stop is ignored', async () => {
  const stop = new AbortController();
  const { noted, ports } = reading([]);
  const read = async () => {
    stop.abort();
    throw new Error('stopped');
  };
  await containReading(source(), ports, stop.signal, read);
  expect(noted).toMatchObject({ failures: 0, warnings: [] });
});

test('an endpoint that is not public is a failed attempt, whose gap is recorded if the last response is more than 15 minutes ago', () => {
  expect(refusedAfter(16 * minute)).toEqual([
    'refused',
    [
      {
        kind: 'record',
        gap: { source: did, start: micros(now - 16 * minute), end: now, reason: 'source_unavailable' },
      },
    ],
  ]);
  expect(refusedAfter(15 * minute)).toEqual(['refused', []]);
});

/** Returns the state and the gaps of a labeler that last responded `sinceAnswer` before its endpoint is not public. */
function refusedAfter(sinceAnswer: number): [state: string, recorded: unknown[]] {
  const recorded: unknown[] = [];
  const gaps: ReaderPorts['gaps'] = { change: async (change) => void recorded.push(change) };
  const tracker = new Tracker(did, untracked(now));
  tracker.apply({ kind: 'answered', now: micros(now - sinceAnswer), dated: 1, undated: 0, live: null });
  new SourceRunner({ ...reading([]).ports, gaps }, new AbortController().signal, () => undefined).follow({
    ...{ did, origin: 'discovered', provenance: new Set(), resolutionStatus: 'bad_endpoint', endpoint: null },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker },
  });
  return [tracker.state, recorded];
}

test('a labeler that loses its reading slot has a gap at once, which ends when it has a slot again', () => {
  const recorded: unknown[] = [];
  const { ports } = scriptedPorts({
    http: http as HttpClient,
    openStream: () => Promise.reject(new ConnectError('dns', 'no such name')),
    gaps: { change: async (change) => void recorded.push(change) },
  });
  let at = now;
  const stop = new AbortController();
  const time = { ...ports.time, clock: () => at };
  const runner = new SourceRunner({ ...ports, time }, stop.signal, () => undefined, 1);
  const labelerOf = (one: string, origin: 'seeded' | 'discovered'): KnownLabeler => ({
    ...{ did: one, origin, provenance: new Set(), resolutionStatus: 'labeler', endpoint: 'https://l.example' },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker: new Tracker(one, untracked(now)) },
  });
  const recent = labelerOf('did:plc:recent', 'discovered');
  const seed = labelerOf('did:plc:seed', 'seeded');
  recent.tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: null });
  runner.follow(recent);
  at = micros(now + 5 * minute);
  runner.follow(seed);
  recent.tracker.apply({ kind: 'failed', now: at, fault: 'failed' });
  at = micros(now + 30 * minute);
  runner.follow({ ...seed, resolutionStatus: 'no_labeler', endpoint: null });
  stop.abort();
  const gap = { source: recent.did, start: now, reason: 'ingest_paused' };
  expect(recorded).toEqual([
    { kind: 'record', gap: { ...gap, end: micros(now + 5 * minute) } },
    { kind: 'record', gap: { ...gap, end: at } },
  ]);
  expect(runner.presence(recent)).toBe('read');
  // The wait is no part of the 7 days after which a labeler is unreachable.
  expect(recent.tracker.tracked.failingSince).toBe(null);
});
