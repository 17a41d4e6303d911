import { describe, expect, test } from 'vitest';
import { answered, asked, caughtUp, failed } from '../../../harness/labels/label-reader.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange } from '../../store/port.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import type { ReadingEvent } from './reading-events.ts';
import { untracked } from './reading-state.ts';
import { Tracker } from './tracker.ts';

const did = 'did:plc:a';
const t = (minutes: number) => micros(1_780_000_000_000_000 + minutes * minute);
const dated = { dated: 1, undated: 0 };

/** Returns the change that records an outage of the source as a gap. */
function recorded(start: Micros, end: Micros): GapChange {
  return { kind: 'record', gap: { source: did, start, end, reason: 'source_unavailable' } };
}

function answering(): Tracker {
  const tracker = new Tracker(did, untracked(t(0)));
  tracker.apply(asked(t(0)));
  tracker.apply(answered(t(0), dated));
  return tracker;
}

describe('a source that fails', () => {
  test('is delayed without a gap if it responds again within 15 minutes', () => {
    const tracker = answering();
    expect([
      tracker.apply(failed(t(5), 'failed')),
      tracker.apply(failed(t(10), 'failed')),
      tracker.apply(failed(t(15), 'failed')),
    ]).toEqual([null, null, null]);
    expect([tracker.state, tracker.delayed]).toEqual(['probing', true]);
    expect(tracker.apply(answered(t(15), dated))).toBe(null);
    expect([tracker.state, tracker.delayed]).toEqual(['established', false]);
  });

  test('is unavailable after 15 minutes and three attempts, and its gap grows until it responds', () => {
    const tracker = answering();
    tracker.apply(failed(t(1), 'failed'));
    const gap = (end: number) => recorded(t(0), t(end));
    expect(tracker.apply(failed(t(16.5), 'failed'))).toEqual(gap(16.5));
    expect(tracker.state).toBe('probing');
    expect(tracker.apply(failed(t(17), 'failed'))).toEqual(gap(17));
    expect(tracker.state).toBe('unavailable');
    expect(tracker.apply(answered(t(20), dated))).toEqual(gap(20));
    expect(tracker.state).toBe('established');
    expect(tracker.apply(answered(t(60), dated))).toBe(null);
  });

  test('has its gap withdrawn once it is read to its end, except for the part whose labels are too old', () => {
    const outage = () => {
      const tracker = answering();
      tracker.apply(failed(t(100), 'failed'));
      tracker.apply(failed(t(200), 'failed'));
      tracker.apply(answered(t(300), dated));
      return tracker;
    };
    const filled = { source: did, reason: 'source_unavailable', end: t(310) };
    expect(outage().apply(caughtUp(t(-1000), t(310)))).toEqual({ kind: 'withdraw', gap: { ...filled, start: t(0) } });
    expect(outage().apply(caughtUp(t(50), t(310)))).toEqual({ kind: 'withdraw', gap: { ...filled, start: t(50) } });
    const tracker = outage();
    tracker.apply(caughtUp(t(50), t(310)));
    expect([tracker.behind, tracker.apply(caughtUp(t(50), t(320)))]).toEqual([false, null]);
  });

  test('extends the same gap if it fails again before it is read to its end', () => {
    const tracker = answering();
    tracker.apply(failed(t(20), 'failed'));
    tracker.apply(failed(t(30), 'failed'));
    tracker.apply(answered(t(40), dated));
    expect([tracker.behind, tracker.unreadSince]).toEqual([true, t(0)]);
    expect(tracker.apply(failed(t(41), 'failed'))).toEqual(recorded(t(0), t(41)));
    tracker.apply({ kind: 'fill_in_abandoned', through: t(40) });
    expect([tracker.behind, tracker.unreadSince]).toEqual([false, t(40)]);
  });

  test('reports the time at which missed labels were last accepted, until it is read to its end', () => {
    const tracker = answering();
    tracker.apply({ kind: 'new_rows_stored', now: t(1) });
    tracker.apply(failed(t(20), 'failed'));
    tracker.apply(failed(t(40), 'failed'));
    expect(tracker.readAt).toBe(null);
    tracker.apply(answered(t(50), { dated: 0, undated: 0 }));
    expect(tracker.readAt).toBe(t(50));
    tracker.apply(answered(t(60), dated));
    tracker.apply({ kind: 'new_rows_stored', now: t(61) });
    tracker.apply(answered(t(5000), dated));
    expect(tracker.readAt).toBe(t(61));
    tracker.apply(caughtUp(t(0), t(5001)));
    expect(tracker.readAt).toBe(null);
    tracker.apply(failed(t(5002), 'failed'));
    tracker.apply(failed(t(6000), 'failed'));
    tracker.apply(answered(t(6001), dated));
    expect(tracker.readAt).toBe(t(6001));
  });

  test('has its gap withdrawn if the instrument restarts before it responds', () => {
    const before = answering();
    before.apply(failed(t(20), 'failed'));
    before.apply(failed(t(40), 'failed'));
    const tracker = new Tracker(did, before.tracked);
    tracker.apply({ kind: 'restarted', now: t(45) });
    expect(tracker.apply(answered(t(50), dated))).toEqual(recorded(t(0), t(50)));
    expect(tracker.apply(caughtUp(t(-1000), t(51)))).toEqual({
      kind: 'withdraw',
      gap: { source: did, start: t(0), end: t(51), reason: 'source_unavailable' },
    });
  });

  test('has no gap of its own for the time between two runs of the instrument', () => {
    const tracker = new Tracker(did, answering().tracked);
    tracker.apply({ kind: 'restarted', now: t(900) });
    expect([tracker.apply(answered(t(901), dated)), tracker.apply(caughtUp(t(-1000), t(902)))]).toEqual([null, null]);
  });

  test('has no gap and is enrolled for a day if it never responded', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.apply(asked(t(0)));
    expect(tracker.apply(failed(t(0), 'refusing'))).toBe(null);
    expect(tracker.apply(failed(t(100), 'refusing'))).toBe(null);
    expect([
      tracker.state,
      tracker.enrolled(micros(t(0) + 24 * hour - 1)),
      tracker.enrolled(micros(t(0) + 24 * hour)),
    ]).toEqual(['refused', true, false]);
    tracker.apply(answered(micros(t(0) + 48 * hour), dated));
    expect(tracker.enrolled(micros(t(0) + 9999 * hour))).toBe(true);
  });

  test('leaves the enrolment after 7 days of failures, and returns when it responds', () => {
    const tracker = answering();
    const failedAt = micros(t(0) + hour);
    const week = 7 * 24 * hour;
    tracker.apply(failed(failedAt, 'failed'));
    expect([tracker.enrolled(micros(failedAt + week - 1)), tracker.enrolled(micros(failedAt + week))]).toEqual([
      true,
      false,
    ]);
    expect(tracker.apply(failed(micros(failedAt + week), 'failed'))).toMatchObject({ gap: { end: failedAt + week } });
    tracker.apply(answered(micros(failedAt + 2 * week), dated));
    expect(tracker.enrolled(micros(failedAt + 9 * week))).toBe(true);
  });

  test('keeps its state, without a trial, if a limit of this instrument prevented the attempt', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.apply(asked(t(0)));
    tracker.apply({ kind: 'not_asked' });
    expect([tracker.tracked, tracker.enrolled(t(99_999))]).toEqual([untracked(t(0)), true]);
    tracker.apply(asked(t(5)));
    tracker.apply(failed(t(6), 'failed'));
    tracker.apply(asked(t(7)));
    tracker.apply({ kind: 'not_asked' });
    expect([tracker.state, tracker.tracked.firstAsked]).toEqual(['probing', t(5)]);
  });

  test('stays enrolled after a restart until an attempt of the new run fails', () => {
    const before = answering();
    before.apply(failed(t(1), 'failed'));
    const later = micros(t(1) + 8 * 24 * hour);
    const tracker = new Tracker(did, before.tracked);
    tracker.apply({ kind: 'restarted', now: later });
    expect(tracker.enrolled(later)).toBe(true);
    tracker.apply(failed(later, 'failed'));
    expect(tracker.enrolled(later)).toBe(false);
  });
});

test('a source is complete up to the time at which it was read to its end, and then up to each live page while it is connected', () => {
  const tracker = new Tracker(did, untracked(t(0)));
  const live = { ...dated, live: true };
  tracker.apply(asked(t(0)));
  tracker.apply(answered(t(1), live));
  expect(tracker.unreadSince).toBe(null);
  tracker.apply({ kind: 'completed', through: t(-500) });
  tracker.apply(answered(t(2), live));
  expect(tracker.unreadSince).toBe(t(-500));
  tracker.apply(caughtUp(t(-1000), t(3)));
  tracker.apply(answered(t(4), live));
  tracker.apply(answered(t(5), dated));
  expect(tracker.unreadSince).toBe(t(4));
  tracker.apply(asked(t(6)));
  tracker.apply(answered(t(7), live));
  expect(tracker.unreadSince).toBe(t(4));
  tracker.apply(failed(t(30), 'failed'));
  expect(tracker.apply(answered(t(31), live))).toEqual(recorded(t(4), t(31)));
});

test('live pages do not make a source complete while its stream replays missed labels', () => {
  const tracker = answering();
  tracker.apply(caughtUp(t(-10), t(1)));
  tracker.apply({ kind: 'replay_started', since: t(1) });
  tracker.apply(answered(t(9), { ...dated, live: true }));
  expect([tracker.whole, tracker.tracked.completeThrough]).toEqual([false, t(1)]);
});

test('a source that sends no labels has no gap', () => {
  const tracker = answering();
  expect(tracker.apply(answered(t(500), { dated: 0, undated: 0 }))).toBe(null);
});

test('a source is undated until one of its labels has a usable date', () => {
  const tracker = new Tracker(did, untracked(t(0)));
  const states = [
    { dated: 0, undated: 0 },
    { dated: 0, undated: 2 },
    { dated: 0, undated: 0 },
    { dated: 1, undated: 3 },
    { dated: 0, undated: 3 },
  ].map((labels) => {
    tracker.apply(answered(t(1), labels));
    return tracker.state;
  });
  expect(states).toEqual(['established', 'undated_only', 'undated_only', 'established', 'established']);
});

describe('a labeler that left the enrolment and returned', () => {
  const left = () => {
    const tracker = answering();
    tracker.apply({ kind: 'completed', through: t(10) });
    return tracker;
  };

  test('has a gap until it responds, and the gap is withdrawn once the labels are filled in', () => {
    const tracker = left();
    tracker.apply({ kind: 'returned', now: t(100) });
    expect(tracker.apply(answered(t(101), dated))).toEqual(recorded(t(10), t(101)));
    expect(tracker.apply(caughtUp(t(-1000), t(102)))).toEqual({
      kind: 'withdraw',
      gap: { source: did, start: t(10), end: t(102), reason: 'source_unavailable' },
    });
  });

  test('has no gap if it responds within 15 minutes', () => {
    const tracker = left();
    tracker.apply({ kind: 'returned', now: t(14) });
    expect(tracker.apply(answered(t(15), dated))).toBe(null);
  });

  test('is enrolled for 7 days of failures after its return, even if it failed before it left', () => {
    const tracker = left();
    tracker.apply(failed(t(15), 'failed'));
    const returned = micros(t(0) + 11 * day);
    tracker.apply({ kind: 'returned', now: returned });
    tracker.apply(failed(returned, 'failed'));
    const enrolled = [returned, micros(returned + 7 * day - 1), micros(returned + 7 * day)].map((at) =>
      tracker.enrolled(at),
    );
    expect(enrolled).toEqual([true, true, false]);
    expect(tracker.unreadSince).toBe(t(10));
  });

  test('has no gap if it never responded before', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.apply({ kind: 'returned', now: t(100) });
    expect(tracker.apply(answered(t(101), dated))).toBe(null);
  });
});

describe('a source that waits for a reading slot', () => {
  const displaced = (minutes: number): ReadingEvent => ({ kind: 'displaced', now: t(minutes) });
  const days = 24 * 60;

  test('does not become unreachable, because nothing tries to read it', () => {
    const tracker = answering();
    tracker.apply(failed(t(5), 'failed'));
    tracker.apply(displaced(6));
    expect([tracker.enrolled(t(8 * days)), tracker.delayed, tracker.tracked.failingSince]).toEqual([true, false, null]);
    tracker.apply(failed(t(9 * days), 'failed'));
    expect([tracker.enrolled(t(16 * days - 1)), tracker.enrolled(t(16 * days))]).toEqual([true, false]);
  });

  test('stays unreachable if it failed for 7 days before', () => {
    const tracker = answering();
    tracker.apply(failed(t(5), 'failed'));
    tracker.apply(displaced(5 + 7 * days));
    expect([tracker.enrolled(t(8 * days)), tracker.tracked.failingSince]).toEqual([false, t(5)]);
  });

  test('does not prolong its trial if it never responded', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.apply(asked(t(0)));
    tracker.apply(failed(t(1), 'failed'));
    tracker.apply(displaced(2));
    expect([tracker.enrolled(t(days - 1)), tracker.enrolled(t(days))]).toEqual([true, false]);
  });
});

describe('a labeler that the operator denied and allowed again', () => {
  const allowed = (minutes: number) => {
    const tracker = answering();
    tracker.apply({ kind: 'completed', through: t(10) });
    tracker.apply({ kind: 'allowed', now: t(minutes) });
    return tracker;
  };
  const withdrawn = (end: number): GapChange => ({
    kind: 'withdraw',
    gap: { source: did, start: t(10), end: t(end), reason: 'source_unavailable' },
  });

  test('has a gap until it responds, and the gap is withdrawn once the labels are filled in', () => {
    const tracker = allowed(100);
    expect(tracker.apply(answered(t(101), dated))).toEqual(recorded(t(10), t(101)));
    expect(tracker.apply(caughtUp(t(-1000), t(102)))).toEqual(withdrawn(102));
    expect(tracker.apply(caughtUp(t(-1000), t(103)))).toBe(null);
  });

  test('has the gap of a denial of less than 15 minutes withdrawn too', () => {
    const tracker = allowed(12);
    expect([tracker.apply(answered(t(13), dated)), tracker.apply(caughtUp(t(-1000), t(14)))]).toEqual([
      ...[null, withdrawn(14)],
    ]);
  });

  test('has no gap if it never responded before', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.apply({ kind: 'allowed', now: t(100) });
    expect([tracker.apply(answered(t(101), dated)), tracker.behind]).toEqual([null, false]);
  });
});

test('a completion up to an earlier time does not reduce the time up to which a source is complete', () => {
  const tracker = answering();
  tracker.apply({ kind: 'completed', through: t(10) });
  tracker.apply({ kind: 'completed', through: t(5) });
  expect(tracker.unreadSince).toBe(t(10));
});

test('after a takeover, a source is complete up to the time that the replaced instrument recorded, and its earlier outage ends at that time', () => {
  const tracker = answering();
  tracker.apply(caughtUp(t(-10), t(1)));
  tracker.apply(asked(t(2)));
  expect(tracker.apply(failed(t(20), 'failed'))).toEqual(recorded(t(1), t(20)));
  tracker.apply({ kind: 'taken_over', completeThrough: t(25), lastAnswered: t(26) });
  expect([tracker.unreadSince, tracker.tracked.lastAnswered]).toEqual([t(25), t(26)]);
  expect(tracker.apply(failed(t(27), 'failed'))).toEqual(null);
  tracker.apply({ kind: 'taken_over', completeThrough: t(3), lastAnswered: null });
  expect([tracker.unreadSince, tracker.tracked.completeThrough]).toEqual([t(25), t(25)]);
});

describe('a source that was read while the clock was ahead', () => {
  const days = 24 * 60;
  const ahead = () => {
    const tracker = answering();
    tracker.apply(caughtUp(t(-1000), t(1)));
    tracker.apply(answered(t(40 * days), { ...dated, live: true }));
    tracker.apply({ kind: 'clock_corrected', now: t(10) });
    return tracker;
  };

  test('is complete at most up to the corrected time, so that a later reset or outage has a gap', () => {
    const { completeThrough, lastAnswered } = ahead().tracked;
    expect([completeThrough, lastAnswered]).toEqual([t(10), t(10)]);
    expect(ahead().apply({ kind: 'reset', now: t(20), epoch: t(-1000), live: false })).toEqual({
      kind: 'record',
      gap: { source: did, start: t(10), end: t(20), reason: 'cursor_reset' },
    });
    expect(ahead().apply(failed(t(30), 'failed'))).toEqual(recorded(t(10), t(30)));
  });

  test('is not complete beyond the corrected time by a page that was requested before the correction', () => {
    const tracker = ahead();
    tracker.apply({ ...answered(t(11), { ...dated, live: true }), live: t(40 * days) } as ReadingEvent);
    expect(tracker.tracked.completeThrough).toBe(t(11));
    tracker.apply({ ...caughtUp(t(-1000), t(12)), through: t(40 * days) } as ReadingEvent);
    expect(tracker.tracked.completeThrough).toBe(t(12));
  });

  test('has no time after the correction, and keeps its earlier times', () => {
    const tracker = answering();
    tracker.apply({ kind: 'completed', through: t(5) });
    for (const at of [1, 2, 3]) tracker.apply(failed(t(40 * days + at), 'failed'));
    tracker.apply({ kind: 'hole_found', now: t(40 * days), epoch: t(-1000), before: null });
    tracker.apply({ kind: 'clock_corrected', now: t(10) });
    expect(tracker.reading).toMatchObject({
      ...{ failing: { since: t(10), attempts: 3 }, outageSince: t(5), hole: { since: t(5), last: t(40 * days) } },
      tracked: { stateSince: t(10), firstAsked: t(0), firstAnswered: t(0), failingSince: t(10), completeThrough: t(5) },
    });
    const { reading } = tracker;
    tracker.apply({ kind: 'clock_corrected', now: t(11) });
    expect(tracker.reading).toEqual(reading);
  });
});

test('only labels that were read at the current endpoint make a source dated or undated', () => {
  const tracker = new Tracker(did, untracked(t(0)));
  tracker.apply(answered(t(1), { dated: 1, undated: 1 }));
  tracker.apply({ kind: 'endpoint_changed' });
  tracker.apply(answered(t(2), { dated: 0, undated: 0 }));
  expect(tracker.tracked).toMatchObject({ state: 'established', firstAnswered: t(1), dated: false, undated: false });
  tracker.apply(answered(t(3), dated));
  expect(tracker.tracked).toMatchObject({ dated: true, undated: false });
  tracker.apply(answered(t(4), { dated: 0, undated: 1 }));
  expect(tracker.tracked).toMatchObject({ dated: true, undated: true });
});
