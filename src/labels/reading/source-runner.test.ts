import { expect, test } from 'vitest';
import { scriptedPorts } from '../../../harness/labels/reader-ports.ts';
import { answered, asked, caughtUp, failed } from '../../../harness/labels/reading-events.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { StoreError } from '../../store/errors.ts';
import type { PositionChange, StoredGap } from '../../store/port.ts';
import { day, hour, micros } from '../../store/time.ts';
import type { AcceptedPage, ReaderPorts } from '../ingest/ports.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { absenceOf } from '../roster/known-labeler.ts';
import { noPosition } from '../state/reading-events.ts';
import { untracked } from '../state/reading-state.ts';
import { Source } from '../state/source.ts';
import { Tracker } from '../state/step.ts';
import { containReading } from './read-source.ts';
import { Places, SourceRunner } from './source-runner.ts';

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
    const labeler = labelerWith(new Tracker(departing, untracked(start)));
    const former = { ...noPosition, cursor: 50, cursorTail: 'f'.repeat(32) };
    const { endpoint } = labeler;
    if (own === noPosition) runner.keep(departing, 'https://former.example', former);
    runner.keep(departing, String(endpoint), own);
    if (own !== noPosition) runner.keep(departing, 'https://former.example', former);
    runner.follow(labeler);
    expect(await recorded.promise).toMatchObject({ source: departing, reason: 'cursor_reset' });
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

const departing = 'did:plc:a';
const start = micros(1_780_000_000_000_000);
const afterwards = micros(start + 9 * day);

function labelerWith(tracker: Tracker): KnownLabeler {
  return {
    ...{
      did: departing,
      origin: 'discovered',
      provenance: new Set(),
      resolutionStatus: 'labeler',
      endpoint: 'https://l.example',
    },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker },
  };
}

/** Returns the gap that the absence of a labeler causes, or null. */
function absenceGap(labeler: KnownLabeler, presence: Parameters<typeof absenceOf>[1], at: Micros): StoredGap | null {
  const absence = absenceOf(labeler, presence, at);
  return absence && (labeler.tracker.apply(absence)?.gap ?? null);
}

function readTracker(): Tracker {
  const tracker = new Tracker(departing, untracked(start));
  tracker.apply(asked(start));
  tracker.apply(answered(start, { dated: 1, undated: 0 }));
  tracker.apply(caughtUp(start, micros(start + hour)));
  return tracker;
}

test('a labeler that is read, or was never read, has no absence gap', () => {
  expect(absenceGap(labelerWith(readTracker()), 'read', afterwards)).toBe(null);
  expect(absenceGap(labelerWith(new Tracker(departing, untracked(start))), 'gone', afterwards)).toBe(null);
});

test('a labeler has no absence gap after a crash until its document is read again', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), resolutionStatus: 'unresolved' }, 'gone', afterwards)).toBe(null);
});

test('a denied labeler has no absence gap, because its denial already records a gap', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), denied: true }, 'gone', afterwards)).toBe(null);
});

test('a labeler that lost its reading slot has an ingest_paused gap since the time at which it was last read to its end', () => {
  const gap = { source: departing, start: micros(start + hour), end: afterwards, reason: 'ingest_paused' };
  expect(absenceGap(labelerWith(readTracker()), 'waiting', afterwards)).toEqual(gap);
});

test('a labeler that is unreachable for 7 days, or no longer names an endpoint, has a source_unavailable gap', () => {
  const gap = { source: departing, start: micros(start + hour), end: afterwards, reason: 'source_unavailable' };
  const unreachable = readTracker();
  unreachable.apply(failed(micros(start + 2 * hour), 'failed'));
  expect(absenceGap(labelerWith(unreachable), 'read', micros(start + 7 * day))).toBe(null);
  expect(absenceGap(labelerWith(unreachable), 'read', afterwards)).toEqual(gap);
  expect(absenceGap(labelerWith(readTracker()), 'gone', afterwards)).toEqual(gap);
});

const placedAt = micros(1_780_000_000_000_000);
const ago = (days: number) => micros(placedAt - days * day);

function labelerToPlace(
  name: string,
  { seeded = false, answeredDays = null as number | null, domain = `${name}.example` } = {},
) {
  const did = `did:web:${name}.example`;
  const endpoint = `https://l-${name}.${domain}`;
  const firstAnswered = answeredDays === null ? null : ago(answeredDays);
  const tracked = { ...untracked(ago(30)), firstAnswered, lastAnswered: firstAnswered, dated: true };
  const labeler: KnownLabeler = {
    ...{ did, origin: seeded ? 'seeded' : 'discovered', provenance: new Set(), resolutionStatus: 'labeler', endpoint },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker: new Tracker(did, tracked) },
  };
  return { labeler, endpoint };
}

function placesOf(max: number) {
  const places = new Places(max, () => placedAt);
  const take = ({ labeler, endpoint }: ReturnType<typeof labelerToPlace>) => {
    const outcome = places.take(labeler, endpoint);
    return outcome.kind === 'placed' ? (outcome.displaced?.did ?? 'placed') : 'waiting';
  };
  return { places, take };
}

test('if no reading slot is free, a new source waits and does not displace another source', () => {
  const { places, take } = placesOf(2);
  const late = labelerToPlace('late');
  expect([take(labelerToPlace('a')), take(labelerToPlace('b')), take(late)]).toEqual(['placed', 'placed', 'waiting']);
  expect([places.waits(late.labeler.did), places.next()]).toEqual([true, null]);
});

test.each([
  ['seeded', { seeded: true }],
  ['established', { answeredDays: 7 }],
])('a source that is %s takes the slot of the newest new source, which then waits', (_, priority) => {
  const { places, take } = placesOf(4);
  take(labelerToPlace('established', { answeredDays: 30 }));
  take(labelerToPlace('seed', { seeded: true }));
  take(labelerToPlace('older', { answeredDays: 5 }));
  take(labelerToPlace('younger', { answeredDays: 1 }));
  expect(take(labelerToPlace('late', priority))).toBe('did:web:younger.example');
  expect(places.waits('did:web:younger.example')).toBe(true);
  expect(take(labelerToPlace('later', priority))).toBe('did:web:older.example');
  expect(take(labelerToPlace('last', priority))).toBe('waiting');
});

test('a free reading slot is assigned to the waiting source that responded first', () => {
  const { places, take } = placesOf(1);
  const first = labelerToPlace('first');
  const waiting = [
    labelerToPlace('unanswered'),
    labelerToPlace('young', { answeredDays: 1 }),
    labelerToPlace('old', { answeredDays: 5 }),
  ];
  for (const one of [first, ...waiting]) take(one);
  places.release(first.labeler.did);
  expect(places.next()?.did).toBe('did:web:old.example');
});

test('new sources of one domain get at most a tenth of the reading slots, and an established source of that domain gets an additional slot', () => {
  const { places, take } = placesOf(1_000);
  const crowd = Array.from({ length: 101 }, (_, i) => labelerToPlace(`c${i}`, { domain: 'crowd.example' }));
  expect(crowd.map(take).filter((outcome) => outcome === 'waiting')).toHaveLength(1);
  expect(places.next()).toBe(null);
  expect(take(labelerToPlace('other'))).toBe('placed');
  expect(take(labelerToPlace('e', { domain: 'crowd.example', answeredDays: 8 }))).toBe('placed');
  places.release(crowd[0]?.labeler.did ?? '');
  expect(places.next()?.did).toBe(crowd[100]?.labeler.did);
});

test('a source that moves to a different endpoint keeps its reading slot', () => {
  const { take } = placesOf(1);
  const one = labelerToPlace('one');
  expect([take(one), take({ ...one, endpoint: 'https://moved.example' })]).toEqual(['placed', 'placed']);
});
