import { expect, test } from 'vitest';
import { newSource, resumeAt, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { StoreError } from '../../store/errors.ts';
import { createIntake } from '../ingest/intake.ts';
import { CapReached } from '../shares/daily-cap.ts';
import { noPosition } from '../state/reading-events.ts';
import { fillBefore } from './fill-in.ts';

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
