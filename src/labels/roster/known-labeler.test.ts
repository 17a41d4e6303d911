import { expect, test } from 'vitest';
import { answered, asked, caughtUp, failed } from '../../../harness/labels/label-reader.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { StoredGap } from '../../store/port.ts';
import { day, hour, micros } from '../../store/time.ts';
import { noPosition, readPosition, writePosition } from '../state/reading-events.ts';
import { untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import {
  absenceOf,
  departureOf,
  isEnrolled,
  type KnownLabeler,
  labelerFromRow,
  priorityInput,
  rowOf,
} from './known-labeler.ts';

const now = micros(1_780_000_000_000_000);
const labeler = (over: Partial<KnownLabeler> = {}): KnownLabeler => ({
  did: 'did:plc:a',
  origin: 'discovered',
  provenance: new Set(['relay r.example', 'jetstream']),
  resolutionStatus: 'labeler',
  endpoint: 'https://l.example',
  pds: null,
  handle: 'mod.example.com',
  handleConfirmed: true,
  denied: false,
  tracker: new Tracker('did:plc:a', untracked(now)),
  ...over,
});

test('a labeler is loaded with its stored state and with the time of the last page according to the rows', () => {
  const kept = labeler();
  kept.tracker.apply(asked(now));
  kept.tracker.apply(answered(now, { dated: 2, undated: 1 }));
  const later = micros(now + hour);
  const { tracker, ...rest } = labelerFromRow(rowOf(kept, now), later);
  expect({ ...rest, tracker: null }).toEqual({ ...labeler(), tracker: null });
  expect(tracker.tracked).toEqual({ ...kept.tracker.tracked, lastAnswered: later });
});

test('a loaded labeler is complete at most up to the time of the last page according to the rows', () => {
  const kept = labeler();
  kept.tracker.apply(answered(now, { dated: 1, undated: 0 }));
  const complete = (answered: number | null, row = rowOf(kept, now)) =>
    labelerFromRow(row, answered === null ? null : micros(answered)).tracker.tracked.completeThrough;
  expect(complete(now)).toBe(null);
  kept.tracker.apply(caughtUp(now, now));
  expect([complete(now + hour), complete(now - hour), complete(null)]).toEqual([now, now - hour, now]);
});

test('a roster row without the time of the first response uses the time of the last response', () => {
  const kept = labeler();
  kept.tracker.apply(asked(now));
  const first = (answeredAt: number | null, firstAnswered: Micros | null) => {
    const row = { ...rowOf(kept, now), firstAnswered };
    return labelerFromRow(row, answeredAt === null ? null : micros(answeredAt)).tracker.tracked.firstAnswered;
  };
  expect([first(null, null), first(null, now), first(now + hour, null), first(now + hour, now)]).toEqual([
    ...[null, null, now + hour, now],
  ]);
});

test('a labeler whose rows were accepted after its failures began was no longer failing', () => {
  const row = { ...rowOf(labeler(), now), failingSince: now };
  const failingSince = [null, micros(now - hour), now, micros(now + hour)].map(
    (answeredAt) => labelerFromRow(row, answeredAt).tracker.tracked.failingSince,
  );
  expect(failingSince).toEqual([now, now, now, null]);
});

test('a labeler is seeded if the seeds file names it, even if another source named it first', () => {
  const named = (...provenance: string[]) => priorityInput(labeler({ provenance: new Set(provenance) })).seeded;
  expect([named('jetstream'), named('jetstream', 'seeds')]).toEqual([false, true]);
});

test('a roster row with unknown values is loaded as a probing labeler with an unresolved document', () => {
  const row = { ...rowOf(labeler(), now), state: 'asleep', resolutionStatus: 'another' };
  expect(labelerFromRow(row, null)).toMatchObject({ resolutionStatus: 'unresolved' });
  expect(labelerFromRow(row, null).tracker.tracked).toMatchObject({
    ...{ state: 'probing', lastAnswered: null, firstAsked: null },
  });
});

test.each([
  ['labeler', true],
  ['bad_endpoint', true],
  ['no_labeler', false],
  ['unresolved', false],
] as const)('for a labeler with the resolution status %s, isEnrolled returns %s', (resolutionStatus, enrolled) => {
  expect(isEnrolled(labeler({ resolutionStatus }), now)).toBe(enrolled);
});

test('a formatted position is parsed back unchanged, and an invalid string is parsed as null', () => {
  const position = { seq: 7, seqTail: 'ab', cursor: 9, cursorTail: null };
  expect([readPosition(writePosition(position)), readPosition(writePosition(noPosition))]).toEqual([
    position,
    noPosition,
  ]);
  const others = [
    '',
    '7',
    '{}',
    '[1,2]',
    '[-1,null,null,null]',
    '[1.5,null,null,null]',
    '["1",null,null,null]',
    '[1,2,3,4]',
  ];
  expect(others.map(readPosition)).toEqual(others.map(() => null));
});

test('a labeler that responds is not enrolled while it is denied', () => {
  const answering = labeler();
  answering.tracker.apply(answered(now, { dated: 1, undated: 0 }));
  expect([isEnrolled(answering, now), rowOf(answering, now).enrolled]).toEqual([true, true]);
  answering.denied = true;
  expect([isEnrolled(answering, now), rowOf(answering, now).enrolled]).toEqual([false, false]);
});

const afterwards = micros(now + 9 * day);

const labelerWith = (tracker: Tracker): KnownLabeler => labeler({ tracker });

/** Returns the gap that the absence of a labeler causes, or null. */
function absenceGap(labeler: KnownLabeler, presence: Parameters<typeof absenceOf>[1], at: Micros): StoredGap | null {
  const absence = absenceOf(labeler, presence, at);
  return absence && (labeler.tracker.apply(absence)?.gap ?? null);
}

function readTracker(): Tracker {
  const tracker = new Tracker('did:plc:a', untracked(now));
  tracker.apply(asked(now));
  tracker.apply(answered(now, { dated: 1, undated: 0 }));
  tracker.apply(caughtUp(now, micros(now + hour)));
  return tracker;
}

test('a labeler that is read, or was never read, has no absence gap', () => {
  expect(absenceGap(labelerWith(readTracker()), 'read', afterwards)).toBe(null);
  expect(absenceGap(labelerWith(new Tracker('did:plc:a', untracked(now))), 'not_read', afterwards)).toBe(null);
});

test('a labeler has no absence gap after a crash until its document is read again', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), resolutionStatus: 'unresolved' }, 'not_read', afterwards)).toBe(
    null,
  );
});

test('a denied labeler has no absence gap, because its denial already records a gap', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), denied: true }, 'not_read', afterwards)).toBe(null);
});

test('a labeler that lost its reading slot has an ingest_paused gap since the time at which it was last read to its end', () => {
  const gap = { source: 'did:plc:a', start: micros(now + hour), end: afterwards, reason: 'ingest_paused' };
  expect(absenceGap(labelerWith(readTracker()), 'waiting', afterwards)).toEqual(gap);
});

test('a labeler that waits for a reading slot is not enrolled in its row, and has an ingest_paused gap at once', () => {
  const waiting = labelerWith(readTracker());
  const window = { start: now, end: afterwards };
  expect([rowOf(waiting, afterwards).enrolled, departureOf(waiting, window)]).toEqual([true, null]);
  expect([rowOf(waiting, afterwards, true).enrolled, departureOf(waiting, window, true)]).toEqual([
    false,
    { source: 'did:plc:a', start: micros(now + hour), end: afterwards, reason: 'ingest_paused' },
  ]);
});

test('a labeler that never responded stays enrolled in its row while it waits for a reading slot', () => {
  const waiting = labelerWith(new Tracker('did:plc:a', untracked(now)));
  expect([
    rowOf(waiting, afterwards, true).enrolled,
    departureOf(waiting, { start: now, end: afterwards }, true),
  ]).toEqual([true, null]);
});

test('a labeler that is unreachable for 7 days, or no longer names an endpoint, has a source_unavailable gap', () => {
  const gap = { source: 'did:plc:a', start: micros(now + hour), end: afterwards, reason: 'source_unavailable' };
  const unreachable = readTracker();
  unreachable.apply(failed(micros(now + 2 * hour), 'failed'));
  expect(absenceGap(labelerWith(unreachable), 'read', micros(now + 7 * day))).toBe(null);
  expect(absenceGap(labelerWith(unreachable), 'read', afterwards)).toEqual(gap);
  expect(absenceGap(labelerWith(readTracker()), 'not_read', afterwards)).toEqual(gap);
});
