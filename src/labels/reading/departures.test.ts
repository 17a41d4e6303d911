import { expect, test } from 'vitest';
import { answered, asked, caughtUp, failed } from '../../../harness/labels/reading-events.ts';
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

/** Returns the gap that the absence of a labeler causes, or null. */
function absenceGap(labeler: KnownLabeler, presence: Presence, at: Micros): StoredGap | null {
  const absence = absenceOf(labeler, presence, at);
  return absence && (labeler.tracker.apply(absence)?.gap ?? null);
}

function readTracker(): Tracker {
  const tracker = new Tracker(did, untracked(start));
  tracker.apply(asked(start));
  tracker.apply(answered(start, { dated: 1, undated: 0 }));
  tracker.apply(caughtUp(start, micros(start + hour)));
  return tracker;
}

test('a labeler that is read, or was never read, has no absence gap', () => {
  expect(absenceGap(labelerWith(readTracker()), 'read', now)).toBe(null);
  expect(absenceGap(labelerWith(new Tracker(did, untracked(start))), 'gone', now)).toBe(null);
});

test('a labeler has no absence gap after a crash until its document is read again', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), resolutionStatus: 'unresolved' }, 'gone', now)).toBe(null);
});

test('a denied labeler has no absence gap, because its denial already records a gap', () => {
  expect(absenceGap({ ...labelerWith(readTracker()), denied: true }, 'gone', now)).toBe(null);
});

test('a labeler that lost its reading slot has an ingest_paused gap since the time at which it was last read to its end', () => {
  const gap = { source: did, start: micros(start + hour), end: now, reason: 'ingest_paused' };
  expect(absenceGap(labelerWith(readTracker()), 'waiting', now)).toEqual(gap);
});

test('a labeler that is unreachable for 7 days, or no longer names an endpoint, has a source_unavailable gap', () => {
  const gap = { source: did, start: micros(start + hour), end: now, reason: 'source_unavailable' };
  const unreachable = readTracker();
  unreachable.apply(failed(micros(start + 2 * hour), 'failed'));
  expect(absenceGap(labelerWith(unreachable), 'read', micros(start + 7 * day))).toBe(null);
  expect(absenceGap(labelerWith(unreachable), 'read', now)).toEqual(gap);
  expect(absenceGap(labelerWith(readTracker()), 'gone', now)).toEqual(gap);
});
