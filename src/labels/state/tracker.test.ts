import { describe, expect, test } from 'vitest';
import { hour, micros, minute } from '../../store/time.ts';
import { untracked } from './reading-state.ts';
import { Tracker } from './tracker.ts';

const did = 'did:plc:a';
const t = (minutes: number) => micros(1_780_000_000_000_000 + minutes * minute);
const dated = { dated: 1, undated: 0 };

function answering(): Tracker {
  const tracker = new Tracker(did, untracked(t(0)));
  tracker.asked(t(0));
  tracker.answered(t(0), dated);
  return tracker;
}

describe('a source that fails', () => {
  test('is only delayed when it answers again within 15 minutes', () => {
    const tracker = answering();
    expect([tracker.failed(t(5), 'failed'), tracker.failed(t(10), 'failed'), tracker.failed(t(15), 'failed')]).toEqual([
      null,
      null,
      null,
    ]);
    expect([tracker.state, tracker.delayed]).toEqual(['probing', true]);
    expect(tracker.answered(t(15), dated)).toBe(null);
    expect([tracker.state, tracker.delayed]).toEqual(['established', false]);
  });

  test('is unavailable after 15 minutes and three tries, and all of it is a gap that grows', () => {
    const tracker = answering();
    tracker.failed(t(1), 'failed');
    const gap = (end: number) => ({ source: did, start: t(0), end: t(end), reason: 'source_unavailable' });
    expect(tracker.failed(t(16.5), 'failed')).toEqual(gap(16.5));
    expect(tracker.state).toBe('probing');
    expect(tracker.failed(t(17), 'failed')).toEqual(gap(17));
    expect(tracker.state).toBe('unavailable');
    expect(tracker.answered(t(20), dated)).toEqual(gap(20));
    expect(tracker.state).toBe('established');
    expect(tracker.answered(t(60), dated)).toBe(null);
  });

  test('leaves no gap behind once it was read on to its end from where it was, but for what is too old by then', () => {
    const outage = () => {
      const tracker = answering();
      tracker.failed(t(100), 'failed');
      tracker.failed(t(200), 'failed');
      tracker.answered(t(300), dated);
      return tracker;
    };
    const filled = { source: did, reason: 'source_unavailable', end: t(310) };
    expect(outage().caughtUp(t(-1000), t(310))).toEqual({ kind: 'withdraw', gap: { ...filled, start: t(0) } });
    expect(outage().caughtUp(t(50), t(310))).toEqual({ kind: 'withdraw', gap: { ...filled, start: t(50) } });
    const tracker = outage();
    tracker.caughtUp(t(50), t(310));
    expect([tracker.behind, tracker.caughtUp(t(50), t(320))]).toEqual([false, null]);
  });

  test('that fails again before it was read to its end goes on with the same gap', () => {
    const tracker = answering();
    tracker.failed(t(20), 'failed');
    tracker.failed(t(30), 'failed');
    tracker.answered(t(40), dated);
    expect([tracker.behind, tracker.unreadSince]).toEqual([true, t(0)]);
    expect(tracker.failed(t(41), 'failed')).toEqual({
      source: did,
      start: t(0),
      end: t(41),
      reason: 'source_unavailable',
    });
    tracker.apply({ kind: 'fill_in_abandoned', through: t(40) });
    expect([tracker.behind, tracker.unreadSince]).toEqual([false, t(40)]);
  });

  test('knows when what it missed was read, apart from when that was known to be all', () => {
    const tracker = answering();
    tracker.apply({ kind: 'new_rows_stored', now: t(1) });
    tracker.failed(t(20), 'failed');
    tracker.failed(t(40), 'failed');
    expect(tracker.readAt).toBe(null);
    tracker.answered(t(50), { dated: 0, undated: 0 });
    expect(tracker.readAt).toBe(t(50));
    tracker.answered(t(60), dated);
    tracker.apply({ kind: 'new_rows_stored', now: t(61) });
    tracker.answered(t(5000), dated);
    expect(tracker.readAt).toBe(t(61));
    tracker.caughtUp(t(0), t(5001));
    expect(tracker.readAt).toBe(null);
    tracker.failed(t(5002), 'failed');
    tracker.failed(t(6000), 'failed');
    tracker.answered(t(6001), dated);
    expect(tracker.readAt).toBe(t(6001));
  });

  test('that never answered leaves no gap, and is enrolled for a day', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.asked(t(0));
    expect(tracker.failed(t(0), 'refusing')).toBe(null);
    expect(tracker.failed(t(100), 'refusing')).toBe(null);
    expect([
      tracker.state,
      tracker.enrolled(micros(t(0) + 24 * hour - 1)),
      tracker.enrolled(micros(t(0) + 24 * hour)),
    ]).toEqual(['refused', true, false]);
    tracker.answered(micros(t(0) + 48 * hour), dated);
    expect(tracker.enrolled(micros(t(0) + 9999 * hour))).toBe(true);
  });

  test('leaves the enrolment once it has been unreachable for 7 days, and returns when it answers', () => {
    const tracker = answering();
    const failedAt = micros(t(0) + hour);
    const week = 7 * 24 * hour;
    tracker.failed(failedAt, 'failed');
    expect([tracker.enrolled(micros(failedAt + week - 1)), tracker.enrolled(micros(failedAt + week))]).toEqual([
      true,
      false,
    ]);
    expect(tracker.failed(micros(failedAt + week), 'failed')).toMatchObject({ end: failedAt + week });
    tracker.answered(micros(failedAt + 2 * week), dated);
    expect(tracker.enrolled(micros(failedAt + 9 * week))).toBe(true);
  });

  test('that our own limits kept us from asking is not on trial, and in the state that it was in', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.asked(t(0));
    tracker.apply({ kind: 'not_asked' });
    expect([tracker.tracked, tracker.enrolled(t(99_999))]).toEqual([untracked(t(0)), true]);
    tracker.asked(t(5));
    tracker.failed(t(6), 'failed');
    tracker.asked(t(7));
    tracker.apply({ kind: 'not_asked' });
    expect([tracker.state, tracker.tracked.firstAsked]).toEqual(['probing', t(5)]);
  });

  test('is still enrolled after a restart until a try of the new run fails too', () => {
    const before = answering();
    before.failed(t(1), 'failed');
    const later = micros(t(1) + 8 * 24 * hour);
    const tracker = new Tracker(did, before.tracked);
    tracker.restarted(later);
    expect(tracker.enrolled(later)).toBe(true);
    tracker.failed(later, 'failed');
    expect(tracker.enrolled(later)).toBe(false);
  });
});

test('is complete up to where it was read to its end, and with every live page from then on, while it is connected', () => {
  const tracker = new Tracker(did, untracked(t(0)));
  const live = { ...dated, live: true };
  tracker.asked(t(0));
  tracker.answered(t(1), live);
  expect(tracker.unreadSince).toBe(null);
  tracker.apply({ kind: 'completed', through: t(-500) });
  tracker.answered(t(2), live);
  expect(tracker.unreadSince).toBe(t(-500));
  tracker.caughtUp(t(-1000), t(3));
  tracker.answered(t(4), live);
  tracker.answered(t(5), dated);
  expect(tracker.unreadSince).toBe(t(4));
  tracker.asked(t(6));
  tracker.answered(t(7), live);
  expect(tracker.unreadSince).toBe(t(4));
  tracker.failed(t(30), 'failed');
  expect(tracker.answered(t(31), live)).toMatchObject({ start: t(4), end: t(31) });
});

test('live pages complete nothing while the stream replays what was missed', () => {
  const tracker = answering();
  tracker.caughtUp(t(-10), t(1));
  tracker.apply({ kind: 'replay_started', since: t(1) });
  tracker.answered(t(9), { ...dated, live: true });
  expect([tracker.whole, tracker.tracked.completeThrough]).toEqual([false, t(1)]);
});

test('a quiet source is never a gap', () => {
  const tracker = answering();
  expect(tracker.answered(t(500), { dated: 0, undated: 0 })).toBe(null);
});

test('a source is undated while none of its labels ever was dated', () => {
  const tracker = new Tracker(did, untracked(t(0)));
  const states = [
    { dated: 0, undated: 0 },
    { dated: 0, undated: 2 },
    { dated: 0, undated: 0 },
    { dated: 1, undated: 3 },
    { dated: 0, undated: 3 },
  ].map((labels) => {
    tracker.answered(t(1), labels);
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

  test('has a gap from when it was last complete until it answers, which is withdrawn once it is filled in', () => {
    const tracker = left();
    tracker.returned(t(100));
    expect(tracker.answered(t(101), dated)).toEqual({
      source: did,
      start: t(10),
      end: t(101),
      reason: 'source_unavailable',
    });
    expect(tracker.caughtUp(t(-1000), t(102))).toEqual({
      kind: 'withdraw',
      gap: { source: did, start: t(10), end: t(102), reason: 'source_unavailable' },
    });
  });

  test('was only delayed when it answers again within 15 minutes', () => {
    const tracker = left();
    tracker.returned(t(14));
    expect(tracker.answered(t(15), dated)).toBe(null);
  });

  test('is missed for nothing when it never answered before', () => {
    const tracker = new Tracker(did, untracked(t(0)));
    tracker.returned(t(100));
    expect(tracker.answered(t(101), dated)).toBe(null);
  });
});

test('what is known to be complete does not become less', () => {
  const tracker = answering();
  tracker.apply({ kind: 'completed', through: t(10) });
  tracker.apply({ kind: 'completed', through: t(5) });
  expect(tracker.unreadSince).toBe(t(10));
});
