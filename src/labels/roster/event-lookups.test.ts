import { expect, test } from 'vitest';
import { EventLookups, liveLookupDelays } from './resolution-queue.ts';

const did = 'did:plc:a';
const minute = 60_000;

/** Looks up one document at each due time until `end`, with events at these times; returns the times of the look-ups. */
function run(events: readonly number[], end: number): number[] {
  const lookups = new EventLookups(minute, liveLookupDelays);
  const pending = [...events];
  const looked: number[] = [];
  for (let now = 0; now <= end; now += 100) {
    while (pending[0] !== undefined && pending[0] <= now) lookups.event(did, pending.shift() ?? 0);
    const at = lookups.next(did);
    if (at === null || at > now) continue;
    lookups.looked(did, now);
    looked.push(now);
  }
  return looked;
}

test('a document is looked up immediately after an event, and again after 5 s, 30 s and 5 minutes', () => {
  expect(run([0], 60 * minute)).toEqual([0, 5_000, 30_000, 300_000]);
});

test('each later event is followed by look-ups of its own', () => {
  expect(run([0, 600_000], 60 * minute)).toEqual([
    ...[0, 5_000, 30_000, 300_000],
    ...[600_000, 605_000, 630_000, 900_000],
  ]);
  // The second event arrives between two look-ups, and the document may change only after it.
  expect(run([0, 6_000], 60 * minute)).toEqual([0, 5_000, 10_000, 15_000, 36_000, 306_000]);
});

test('a document with constant events is looked up once a minute on average, and after the last event', () => {
  const events = Array.from({ length: 3_600 }, (_, second) => second * 1_000);
  const looked = run(events, 70 * minute);
  expect(looked.length).toBeLessThanOrEqual(60 + 8 + 2);
  const waits = looked.slice(1, -1).map((at, i) => at - (looked[i] ?? 0));
  expect([Math.min(...waits), Math.max(...waits)]).toEqual([5_000, minute]);
  expect(looked.at(-1)).toBe(3_599_000 + 300_000);
});

test('a result that may soon change is confirmed after 5 s, 30 s and 5 minutes', () => {
  const lookups = new EventLookups(minute, liveLookupDelays);
  lookups.confirm(did, 0);
  const times: (number | null)[] = [];
  for (let at = lookups.next(did); at !== null; at = lookups.next(did)) {
    times.push(at);
    lookups.looked(did, at);
  }
  expect(times).toEqual([5_000, 30_000, 300_000]);
});

test('an event is followed by look-ups even if the last ones were timed by a clock that was ahead', () => {
  const lookups = new EventLookups(minute, liveLookupDelays);
  const ahead = 40 * 24 * 60 * minute;
  lookups.event(did, ahead);
  for (let i = 0; i < 20; i += 1) lookups.looked(did, ahead + i);
  lookups.event(did, 0);
  expect(lookups.next(did)).toBe(0);
  lookups.looked(did, 0);
  expect(lookups.next(did)).toBe(5_000);
});

test('a document without an event, or of a forgotten labeler, is not looked up', () => {
  const lookups = new EventLookups(minute, liveLookupDelays);
  lookups.looked(did, 0);
  expect([lookups.next(did), lookups.next('did:plc:b')]).toEqual([null, null]);
  lookups.event(did, 1);
  lookups.forget(did);
  expect(lookups.next(did)).toBe(null);
});
