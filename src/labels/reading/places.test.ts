import { expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/step.ts';
import { Places } from './places.ts';

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
