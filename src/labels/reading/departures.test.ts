import { expect, test } from 'vitest';
import type { Micros } from '../../contract/timestamp.ts';
import type { StoredGap } from '../../store/port.ts';
import { day, hour, micros } from '../../store/time.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { absenceOf, type Presence } from './departures.ts';

const did = 'did:plc:a';
const start = micros(1_780_000_000_000_000);
const now = micros(start + 9 * day);

function labelerWith(tracker: Tracker): KnownLabeler {
  return {
    ...{ did, origin: 'discovered', provenance: new Set(), resolutionStatus: 'labeler', endpoint: 'https://l.example' },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false, tracker },
  };
}

/** The gap that the absence of a labeler leaves; null where there is none. */
function absenceGap(labeler: KnownLabeler, presence: Presence, at: Micros): StoredGap | null {
  const absence = absenceOf(labeler, presence, at);
  return absence && (labeler.tracker.apply(absence)?.gap ?? null);
}

function answered(): Tracker {
  const tracker = new Tracker(did, untracked(start));
  tracker.asked(start);
  tracker.answered(start, { dated: 1, undated: 0 });
  tracker.caughtUp(start, micros(start + hour));
  return tracker;
}

test('a labeler that is read, or was never read, leaves no gap', () => {
  expect(absenceGap(labelerWith(answered()), 'read', now)).toBe(null);
  expect(absenceGap(labelerWith(new Tracker(did, untracked(start))), 'gone', now)).toBe(null);
});

test('a labeler whose document has still to be read after a crash has not left', () => {
  expect(absenceGap({ ...labelerWith(answered()), resolutionStatus: 'unresolved' }, 'gone', now)).toBe(null);
});

test('a denied labeler leaves none here: its denial has recorded one from its moment on', () => {
  expect(absenceGap({ ...labelerWith(answered()), denied: true }, 'gone', now)).toBe(null);
});

test('one that lost its place leaves a gap of ours since it was last read to its end', () => {
  const gap = { source: did, start: micros(start + hour), end: now, reason: 'ingest_paused' };
  expect(absenceGap(labelerWith(answered()), 'waiting', now)).toEqual(gap);
});

test('one that has been unreachable for 7 days, or names no endpoint any more, leaves a gap of its own', () => {
  const gap = { source: did, start: micros(start + hour), end: now, reason: 'source_unavailable' };
  const unreachable = answered();
  unreachable.failed(micros(start + 2 * hour), 'failed');
  expect(absenceGap(labelerWith(unreachable), 'read', micros(start + 7 * day))).toBe(null);
  expect(absenceGap(labelerWith(unreachable), 'read', now)).toEqual(gap);
  expect(absenceGap(labelerWith(answered()), 'gone', now)).toEqual(gap);
});
