import { expect, test } from 'vitest';
import { newSource, resumeAt, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import type { HttpClient, JsonAnswer } from '../../network/http/http.ts';
import { StoreError } from '../../store/errors.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import { createIntake } from '../ingest/intake.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { noPosition } from '../state/reading-events.ts';
import { type Filled, fillBefore, HoleCloser } from './fill-in.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const unjoined = { joined: false, reset: false, fault: null, replayFrom: null };

/** Fills in one page of a source. Storing the page calls `act` and then fails with `error`. */
async function filling(error: unknown, signal: AbortSignal, act: () => void = () => undefined) {
  const label = { src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val: 'a', cts: new Date().toISOString() };
  const http: Pick<HttpClient, 'getJson'> = {
    getJson: () =>
      Promise.resolve({ kind: 'json', status: 200, date: null, value: { labels: [label], cursor: '101' } }),
  };
  const script = {
    http: http as HttpClient,
    openStream: () => Promise.reject(new Error('this request was not expected')),
    accept: () => {
      act();
      return Promise.reject(error);
    },
  };
  // No label of a source that was unread for one day is too old, so the start of the reading records no gap.
  const { ports, gaps } = scriptedPorts(script, { days: 1 });
  const source = newSource(did, 'https://labeler.example', ports);
  resumeAt(source, { ...noPosition, cursor: 100 });
  const intake = createIntake(source, ports, () => undefined);
  const options = { resumed: false, openedAt: ports.time.clock(), storedThrough: ports.time.clock, signal };
  return { filled: await fillBefore(source, intake, ports, options), gaps };
}

test.each<[string, Error]>([
  ['a permanent error of the store', new StoreError('damaged', 'the files are inconsistent')],
  ['a transient error of the store', new StoreError('busy', 'a query took too long')],
  ['an error that a bug of this program causes', new TypeError('ours')],
])('the fill-in rejects with %s', async (_, error) => {
  await expect(filling(error, new AbortController().signal)).rejects.toBe(error);
});

test('the fill-in rejects with an error of the store that occurs after the connection ended', async () => {
  const stop = new AbortController();
  const error = new StoreError('damaged', 'the files are inconsistent');
  await expect(filling(error, stop.signal, () => stop.abort())).rejects.toBe(error);
});

test('the fill-in ends without a gap if the source used up its daily allowance', async () => {
  expect(await filling(new CapReached(), new AbortController().signal)).toEqual({ filled: unjoined, gaps: [] });
});

test('the fill-in ends without a gap if an abort ends its round of polls', async () => {
  const stop = new AbortController();
  const reason = new Error('the connection ended');
  const filled = filling(reason, stop.signal, () => stop.abort(reason));
  expect(await filled).toEqual({ filled: unjoined, gaps: [] });
});

/**
 * Closes the holes of a stream that delivers a message of an unknown type in each wait. The fill-in of the stream takes
 * `fillIn`. At each time of `failsAt`, the pages begin to fail for `failing`.
 */
async function closing(failing: number, { fillIn, failsAt } = { fillIn: 0, failsAt: [hour] }) {
  const start = 1_780_000_000_000_000;
  let now = start;
  const due = [...failsAt];
  let failingSince: number | null = null;
  const isFailing = (): boolean => {
    if (now >= start + (due[0] ?? Number.POSITIVE_INFINITY)) {
      due.shift();
      failingSince = now;
    }
    return failingSince !== null && now - failingSince <= failing;
  };
  const page: JsonAnswer = { kind: 'json', status: 200, date: null, value: { labels: [] } };
  const unavailable: JsonAnswer = { kind: 'status', status: 503, retryAfterMs: null, error: null };
  const http: Pick<HttpClient, 'getJson'> = { getJson: () => Promise.resolve(isFailing() ? unavailable : page) };
  const openStream = () => Promise.reject(new Error('this request was not expected'));
  const { ports, gaps } = scriptedPorts({ http: http as HttpClient, openStream });
  const epoch = micros(start - day);
  let seq = 100;
  const arrives = (): void => {
    seq += 1;
    source.apply({ kind: 'hole_found', now: micros(now), epoch, before: { seq, tail: null } });
  };
  const wait = (ms: number): Promise<void> => {
    now += Math.round(ms * 1_000);
    if (now < start + 2 * hour) arrives();
    return Promise.resolve();
  };
  const timings = { ...ports.time.timings, pollMs: 30_000, resumeMs: 20_000 };
  const own = { ...ports, time: { ...ports.time, clock: () => micros(now), epoch, timings, wait } };
  const source = newSource(did, 'https://labeler.example', own);
  resumeAt(source, { ...noPosition, cursor: 100 });
  const { signal } = new AbortController();
  const intake = createIntake(source, own, () => undefined);
  const filled = Promise.resolve().then((): Filled => {
    now += fillIn;
    return { joined: true, reset: false, fault: null, replayFrom: null };
  });
  const holes = new HoleCloser(source, intake, own, { filled, end: () => undefined, signal });
  arrives();
  holes.start();
  const outcome = await holes.ended();
  return { outcome, holes: source.progress.holes, gaps: gaps.map(({ reason }) => reason) };
}

test.each([
  ['once', 0, []],
  ['for 14 minutes', 14 * minute, []],
  ['for 16 minutes', 16 * minute, ['not_observed']],
])('messages that are not understood follow each other for hours, and the pages fail %s', async (_, failing, gaps) => {
  expect(await closing(failing)).toEqual({ outcome: null, holes: [], gaps });
});

test.each([
  ['after a fill-in of 20 minutes', { fillIn: 20 * minute, failsAt: [0] }],
  ['twice within half an hour', { fillIn: 0, failsAt: [hour, hour + 30 * minute] }],
])('single failures of the pages %s cause no gap', async (_, times) => {
  expect(await closing(0, times)).toEqual({ outcome: null, holes: [], gaps: [] });
});
