import { expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { ReadingSlots } from './reading-slots.ts';

const askedAt = micros(1_780_000_000_000_000);
const ago = (days: number) => micros(askedAt - days * day);

function labelerAsking(
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

function slotsOf(max: number) {
  const slots = new ReadingSlots(max, () => askedAt);
  const take = ({ labeler, endpoint }: ReturnType<typeof labelerAsking>) => {
    const outcome = slots.take(labeler, endpoint);
    return outcome.kind === 'granted' ? (outcome.displaced?.did ?? 'granted') : 'waiting';
  };
  return { slots, take };
}

test('if no reading slot is free, a new source waits and does not displace another source', () => {
  const { slots, take } = slotsOf(2);
  const late = labelerAsking('late');
  expect([take(labelerAsking('a')), take(labelerAsking('b')), take(late)]).toEqual(['granted', 'granted', 'waiting']);
  expect([slots.waits(late.labeler.did), slots.next()]).toEqual([true, null]);
});

test.each([
  ['seeded', { seeded: true }],
  ['established', { answeredDays: 7 }],
])('a source that is %s takes the slot of the newest new source, which then waits', (_, priority) => {
  const { slots, take } = slotsOf(4);
  take(labelerAsking('established', { answeredDays: 30 }));
  take(labelerAsking('seed', { seeded: true }));
  take(labelerAsking('older', { answeredDays: 5 }));
  take(labelerAsking('younger', { answeredDays: 1 }));
  expect(take(labelerAsking('late', priority))).toBe('did:web:younger.example');
  expect(slots.waits('did:web:younger.example')).toBe(true);
  expect(take(labelerAsking('later', priority))).toBe('did:web:older.example');
  expect(take(labelerAsking('last', priority))).toBe('waiting');
});

test('a free reading slot is assigned to the waiting source that responded first', () => {
  const { slots, take } = slotsOf(1);
  const first = labelerAsking('first');
  const waiting = [
    labelerAsking('unanswered'),
    labelerAsking('young', { answeredDays: 1 }),
    labelerAsking('old', { answeredDays: 5 }),
  ];
  for (const one of [first, ...waiting]) take(one);
  slots.release(first.labeler.did);
  expect(slots.next()?.did).toBe('did:web:old.example');
});

test('new sources of one domain get at most a tenth of the reading slots, and an established source of that domain gets an additional slot', () => {
  const { slots, take } = slotsOf(1_000);
  const crowd = Array.from({ length: 101 }, (_, i) => labelerAsking(`c${i}`, { domain: 'crowd.example' }));
  expect(crowd.map(take).filter((outcome) => outcome === 'waiting')).toHaveLength(1);
  expect(slots.next()).toBe(null);
  expect(take(labelerAsking('other'))).toBe('granted');
  expect(take(labelerAsking('e', { domain: 'crowd.example', answeredDays: 8 }))).toBe('granted');
  slots.release(crowd[0]?.labeler.did ?? '');
  expect(slots.next()?.did).toBe(crowd[100]?.labeler.did);
});

test('a source that moves to a different endpoint keeps its reading slot', () => {
  const { take } = slotsOf(1);
  const one = labelerAsking('one');
  expect([take(one), take({ ...one, endpoint: 'https://moved.example' })]).toEqual(['granted', 'granted']);
});
