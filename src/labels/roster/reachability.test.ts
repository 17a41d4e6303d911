import { expect, test } from 'vitest';
import { type Log, silentLog } from '../../ops/log.ts';
import { day, hour, micros } from '../../store/time.ts';
import { untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { isUnreachable, type KnownLabeler, labelerFromRow, Reachability, rowOf } from './known-labeler.ts';

const did = 'did:plc:a';
const start = micros(1_780_000_000_000_000);
const at = (days: number) => micros(start + days * day);

function answering(): KnownLabeler {
  const tracker = new Tracker(did, untracked(start));
  tracker.apply({ kind: 'asked', now: start });
  tracker.apply({ kind: 'answered', now: start, dated: 1, undated: 0, live: null });
  tracker.apply({ kind: 'completed', through: micros(start + hour) });
  return {
    ...{ did, origin: 'discovered', provenance: new Set(), resolutionStatus: 'labeler', endpoint: 'https://l.example' },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker },
  };
}

function watched() {
  const logged: unknown[] = [];
  const info: Log['info'] = (message, fields) => void logged.push([message, fields]);
  return { logged, reachability: new Reachability({ ...silentLog, info }) };
}

const left = (state: string, days: number) => [
  'a labeler is no longer enrolled because it is unreachable; it is contacted daily',
  { labeler: did, state, days },
];
const returned = (days: number) => ['a labeler that was unreachable responds again', { labeler: did, days }];

test('a labeler that fails every attempt for 7 days is unreachable, and its departure and its return are logged once', () => {
  const { logged, reachability } = watched();
  const labeler = answering();
  labeler.tracker.apply({ kind: 'failed', now: at(1), fault: 'failed' });
  reachability.look([labeler], at(7.9));
  expect([isUnreachable(labeler, at(7.9)), logged]).toEqual([false, []]);
  labeler.tracker.apply({ kind: 'failed', now: at(8), fault: 'failed' });
  reachability.look([labeler], at(8));
  reachability.look([labeler], at(9));
  expect([isUnreachable(labeler, at(8)), logged]).toEqual([true, [left('probing', 7)]]);
  labeler.tracker.apply({ kind: 'answered', now: at(11), dated: 0, undated: 0, live: null });
  reachability.look([labeler], at(11));
  reachability.look([labeler], at(12));
  expect([isUnreachable(labeler, at(12)), logged]).toEqual([false, [left('probing', 7), returned(10)]]);
});

test('the return of a labeler that left before a restart is logged, and the restart is not logged as a return', () => {
  const before = answering();
  before.tracker.apply({ kind: 'failed', now: at(1), fault: 'failed' });
  const row = rowOf(before, at(9));
  const labeler = labelerFromRow(row, null);
  const { logged, reachability } = watched();
  reachability.load([row], () => labeler, at(9));
  labeler.tracker.apply({ kind: 'restarted', now: at(9) });
  // The labeler is enrolled, because no attempt of this run has failed yet, but it has not responded either.
  reachability.look([labeler], at(9));
  expect([isUnreachable(labeler, at(9)), logged]).toEqual([false, []]);
  labeler.tracker.apply({ kind: 'failed', now: at(9), fault: 'failed' });
  reachability.look([labeler], at(9));
  expect([isUnreachable(labeler, at(9)), logged]).toEqual([true, []]);
  labeler.tracker.apply({ kind: 'answered', now: at(12), dated: 0, undated: 0, live: null });
  reachability.look([labeler], at(12));
  expect(logged).toEqual([returned(11)]);
});

test('the response of a labeler that waited for a reading slot before a restart is not logged as a return', () => {
  const before = answering();
  before.tracker.apply({ kind: 'failed', now: at(1), fault: 'failed' });
  const row = rowOf(before, at(2), true);
  const labeler = labelerFromRow(row, null);
  const { logged, reachability } = watched();
  reachability.load([row], () => labeler, at(2));
  labeler.tracker.apply({ kind: 'answered', now: at(3), dated: 0, undated: 0, live: null });
  reachability.look([labeler], at(3));
  expect([row.enrolled, logged]).toEqual([false, []]);
});

test('a labeler that is denied, has no document, or never responded is not unreachable', () => {
  const labeler = answering();
  labeler.tracker.apply({ kind: 'failed', now: at(1), fault: 'failed' });
  expect(isUnreachable(labeler, at(9))).toBe(true);
  expect(isUnreachable({ ...labeler, denied: true }, at(9))).toBe(false);
  expect(isUnreachable({ ...labeler, resolutionStatus: 'no_labeler' }, at(9))).toBe(false);
  const silent = { ...labeler, tracker: new Tracker(did, untracked(start)) };
  silent.tracker.apply({ kind: 'asked', now: start });
  silent.tracker.apply({ kind: 'failed', now: start, fault: 'failed' });
  expect(isUnreachable(silent, at(9))).toBe(false);
});

test('an unreachable labeler that leaves the directory does not count as returned', () => {
  const { logged, reachability } = watched();
  const labeler = answering();
  labeler.tracker.apply({ kind: 'failed', now: at(1), fault: 'failed' });
  reachability.look([labeler], at(8));
  labeler.resolutionStatus = 'no_labeler';
  reachability.look([labeler], at(9));
  expect(logged).toEqual([left('probing', 7)]);
});
