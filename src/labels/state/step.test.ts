import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { micros, minute } from '../../store/time.ts';
import type { ReadingEvent, SourceFault } from './reading-events.ts';
import { type ReadingState, readingOf, untracked } from './reading-state.ts';
import { gapRules, step } from './step.ts';

/** Returns the change to the gaps that an event causes. */
const gapChangeOf = (...args: Parameters<typeof step>) => step(...args)[1];

const did = 'did:plc:a';
const t = (minutes: number) => micros(1_780_000_000_000_000 + minutes * minute);
const epoch = t(-10_000);
const page = readFileSync(new URL('../../../docs/labels.md', import.meta.url), 'utf8');

/** Returns the rows of the table in docs/labels.md whose heading begins with `event` and `only if`. */
function documented(): string[][] {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const heading = rows.findIndex((cells) => cells[1] === 'event' && cells[2] === 'only if');
  const end = rows.findIndex((cells, at) => at > heading && cells.length < 2);
  return rows.slice(heading + 2, end).map((cells) => cells.slice(1, -1));
}

test('the table in docs/labels.md has exactly the rows of gapRules, in order', () => {
  const rows = gapRules.map(({ event, when, change, reason, from, until }) => [
    ...[event, when.text, `${change} ${reason}`, from.text, until.text],
  ]);
  expect(documented()).toEqual(rows);
});

const holeFound = (minutes: number): ReadingEvent => ({ kind: 'hole_found', now: t(minutes), epoch, before: null });

/** Returns the state after an event. */
function next(state: ReadingState, event: ReadingEvent): ReadingState {
  return step(did, state, event)[0];
}

const never = readingOf(untracked(t(-100)));
/** State of a source that responded at 0 and is complete up to -5 minutes. */
const answered: ReadingState = readingOf({
  ...{ ...never.tracked, state: 'established', firstAnswered: t(-50), lastAnswered: t(0), completeThrough: t(-5) },
});
const failing: ReadingState = { ...answered, failing: { since: t(1), attempts: 1 } };
/** State after a restart during failures. */
const restarted: ReadingState = { ...answered, tracked: { ...answered.tracked, failingSince: t(1) } };
const behind: ReadingState = { ...failing, outageSince: t(-5) };
/** State of a source of which two messages were not understood, at 4 and 6 minutes. */
const holed: ReadingState = [4, 6].reduce((state, at) => next(state, holeFound(at)), answered);
/** State of a source that a version without `completeThrough` stored. */
const incomplete: ReadingState = { ...failing, tracked: { ...failing.tracked, completeThrough: null } };

const failed = (minutes: number): ReadingEvent => ({ kind: 'failed', now: t(minutes), fault: 'failed' });
const heard = (minutes: number): ReadingEvent => ({
  ...{ kind: 'answered', now: t(minutes), dated: 1, undated: 0, live: t(minutes) },
});
const began = (since: number, target: number): ReadingEvent => ({
  ...{ kind: 'reading_began', before: { since: t(since), target: t(target) } },
});
const caughtUp = (now: number, reached: number, since: number, target: number): ReadingEvent => ({
  ...{ kind: 'caught_up', now: t(now), through: t(now - 1), reached: t(reached) },
  before: { since: t(since), target: t(target) },
});
const ours = (kind: 'reset' | 'throttled' | 'share_used_up', minutes: number): ReadingEvent => {
  const at = { now: t(minutes), epoch };
  return kind === 'reset' ? { kind, ...at, live: true } : { kind, ...at };
};

/** A test case: a name, the state, the event, and the expected gap in minutes. */
type Case = readonly [string, ReadingState, ReadingEvent, readonly [number, string, number, number] | null];

const outage = 'record source_unavailable';
const cases: readonly Case[] = [
  ['15 minutes after the last response', answered, failed(15), null],
  ['more than 15 minutes after the last response', answered, failed(15.1), [0, outage, -5, 15.1]],
  ['in an outage, from its start', behind, failed(16), [0, outage, -5, 16]],
  ['with nothing known to be complete, from the last response', incomplete, failed(16), [0, outage, 0, 16]],
  ['before any response', never, failed(99), null],
  ['after a failure, 15 minutes after the last response', failing, heard(15), null],
  ['after a failure, more than 15 minutes after the last response', failing, heard(16), [1, outage, -5, 16]],
  ['after failures of an earlier run', restarted, heard(16), [1, outage, -5, 16]],
  ['after failures of an earlier run, 15 minutes after the last response', restarted, heard(15), null],
  ['after silence, however long', answered, heard(9_000), null],
  ['with labels too old', answered, began(-5, 3), [2, 'record not_observed', -5, 3]],
  [
    'for the first time, after failures',
    { ...never, failing: failing.failing },
    began(-9, -3),
    [2, 'record not_observed', -9, -3],
  ],
  ['with no label too old', answered, began(-5, -5), null],
  ['in a delay that may still become an outage', failing, began(-5, 3), null],
  ['in a delay that began before a restart', restarted, began(-5, 3), null],
  ['in an outage', behind, began(-5, 3), null],
  ['after an outage that is not yet filled in', { ...behind, failing: null }, began(-5, 3), null],
  ['after an outage', behind, caughtUp(20, -90, -5, -90), [3, 'withdraw source_unavailable', -5, 20]],
  ['after an outage with labels too old', behind, caughtUp(20, 3, -5, 3), [3, 'withdraw source_unavailable', 3, 20]],
  ['after silence only', answered, caughtUp(20, -90, -5, -90), null],
  ['after labels were too old', answered, caughtUp(20, 4, -5, 3), [4, 'record not_observed', -5, 4]],
  ['with a stream only', answered, { kind: 'not_filled_in', since: t(-5), opened: t(2) }, [5, outage, -5, 2]],
  ['since the source was complete', answered, ours('reset', 7), [6, 'record cursor_reset', -5, 7]],
  ['since the outage', behind, ours('reset', 7), [6, 'record cursor_reset', -5, 7]],
  ['of the whole epoch', never, ours('reset', 7), [6, 'record cursor_reset', -10_000, 7]],
  ['since the source was complete', answered, ours('throttled', 7), [7, 'record ingest_paused', -5, 7]],
  ['since the epoch', never, ours('throttled', 7), [7, 'record ingest_paused', -10_000, 7]],
  ['since the source was complete', answered, ours('share_used_up', 7), [8, 'record ingest_paused', -5, 7]],
  ['at the time up to which the source is complete', answered, ours('share_used_up', -5), null],
  ['since the source was complete', answered, { kind: 'displaced', now: t(7) }, [9, 'record ingest_paused', -5, 7]],
  ['since the last response', incomplete, { kind: 'displaced', now: t(7) }, [9, 'record ingest_paused', 0, 7]],
  ['before any response', never, { kind: 'displaced', now: t(7) }, null],
  ['since the source was complete', answered, { kind: 'left', now: t(7) }, [10, outage, -5, 7]],
  ['before any response', never, { kind: 'left', now: t(7) }, null],
  ['since the source was complete', holed, { kind: 'holes_left' }, [11, 'record not_observed', -5, 6]],
  ['without a hole', answered, { kind: 'holes_left' }, null],
];

describe('the gap rules', () => {
  test.each(cases.map((one) => [one[2].kind, ...one] as const))(
    'define the change of gaps for the event %s: %s',
    (_kind, _name, state, event, expected) => {
      if (expected === null) {
        expect(gapChangeOf(did, state, event)).toBe(null);
        return;
      }
      const [row, change, start, end] = expected;
      const [kind, reason] = change.split(' ');
      expect(gapRules[row]).toMatchObject({ event: event.kind, change: kind, reason });
      expect(gapChangeOf(did, state, event)).toEqual({
        kind,
        gap: { source: did, start: t(start), end: t(end), reason },
      });
    },
  );

  test('are all tested', () => {
    const rows = cases.flatMap(([, , , expected]) => (expected === null ? [] : [expected[0]]));
    expect([...new Set(rows)].sort((a, b) => a - b)).toEqual(gapRules.map((_, row) => row));
  });
});

const instant = fc.integer({ min: 1, max: 200 });
const faults: readonly NonNullable<SourceFault['fault']>[] = ['refusing', 'rejecting', 'failed', 'order_unverified'];
/** Generates sequences of events, each 1 to 200 minutes after the preceding one. */
const events = fc.array(
  fc.tuple(
    instant,
    fc.oneof(
      fc.constantFrom(
        ...(['asked', 'returned', 'allowed', 'moved', 'restarted', 'new_rows_stored', 'displaced', 'left'] as const),
      ),
      fc.constantFrom(...(['hole_found', 'hole_found', 'holes_closed', 'holes_left'] as const)),
      fc.constantFrom(
        ...([
          'answered',
          'failed',
          'caught_up',
          'replay_started',
          'fill_in_abandoned',
          'reset',
          'reading_began',
        ] as const),
      ),
    ),
    fc.nat(99),
  ),
  { maxLength: 40 },
);

function eventOf(kind: ReadingEvent['kind'], at: number, choice: number, state: ReadingState): ReadingEvent {
  const now = t(at);
  const since = state.outageSince ?? state.tracked.completeThrough ?? epoch;
  switch (kind) {
    case 'answered':
      return { kind, now, dated: choice % 3, undated: choice % 2, live: choice % 5 === 0 ? t(at - choice) : null };
    case 'failed':
      return { kind, now, fault: faults[choice % 4] ?? 'failed' };
    case 'caught_up':
    case 'reading_began': {
      const before = { since, target: t(at - choice * 10) };
      return kind === 'caught_up'
        ? { kind, now, through: t(at - (choice % 7)), reached: before.target, before }
        : { kind, before };
    }
    case 'replay_started':
      return { kind, since };
    case 'fill_in_abandoned':
      return { kind, through: now };
    case 'reset':
      return { kind, now, epoch, live: choice % 2 === 0 };
    case 'hole_found':
      return { kind, now, epoch, before: null };
    case 'holes_closed':
      return { kind, through: t(at - choice) };
    case 'holes_left':
      return { kind };
    case 'asked':
    case 'returned':
    case 'allowed':
    case 'moved':
    case 'restarted':
    case 'new_rows_stored':
    case 'displaced':
    case 'left':
      return { kind, now };
    default:
      throw new Error(`the generator does not create the event ${kind}`);
  }
}

test('a live stream is complete up to the messages that still wait', () => {
  const live: ReadingEvent = { kind: 'answered', now: t(20), dated: 1, undated: 0, live: t(12) };
  expect(next({ ...answered, whole: true }, live).tracked).toMatchObject({
    completeThrough: t(12),
    lastAnswered: t(20),
  });
});

test('a reset is missing from the time at which the last page was requested, although the page arrived later', () => {
  const read = next(answered, caughtUp(20, -90, -5, -90));
  expect(gapChangeOf(did, read, ours('reset', 22))?.gap).toMatchObject({ start: t(19), end: t(22) });
  // The end of an outage withdraws its gap entirely.
  expect(gapChangeOf(did, behind, caughtUp(20, -90, -5, -90))?.gap).toMatchObject({ start: t(-5), end: t(20) });
});

describe('a message that was not understood', () => {
  const heardAt = (minutes: number): ReadingEvent => ({
    ...{ kind: 'caught_up', now: t(minutes), through: t(minutes), reached: t(-90), before },
  });
  const before = { since: t(-90), target: t(-90) };

  test('keeps the source incomplete until it is read from pages', () => {
    const read = next(holed, heardAt(9));
    expect(read.tracked.completeThrough).toBe(t(-5));
    const partly = next(next(read, { kind: 'holes_closed', through: t(5) }), heardAt(9));
    expect(partly.tracked.completeThrough).toBe(t(5));
    expect(next(next(partly, { kind: 'holes_closed', through: t(6) }), heardAt(9)).tracked.completeThrough).toBe(t(9));
  });

  test('is part of one gap with the earlier ones, after which the source is complete', () => {
    const { tracked } = next(next(next(holed, heardAt(5)), holeFound(8)), { kind: 'holes_left' });
    expect(tracked.completeThrough).toBe(t(8));
    expect(gapChangeOf(did, next(next(holed, heardAt(5)), holeFound(8)), { kind: 'holes_left' })?.gap).toMatchObject({
      ...{ start: t(-5), end: t(8) },
    });
  });
});

/** Returns the oldest message that was neither read from pages nor recorded as a gap after an event. */
function oldestHole(open: readonly number[], event: ReadingEvent): readonly number[] {
  if (event.kind === 'hole_found') return [...open, event.now];
  if (event.kind === 'holes_closed') return open.filter((one) => one > event.through);
  return event.kind === 'holes_left' || event.kind === 'reset' ? [] : open;
}

test('under random events without a corrected clock, the time up to which a source is complete never decreases, and no withdrawn gap begins before the first outage', () => {
  fc.assert(
    fc.property(events, (happened) => {
      let state = never;
      let at = 0;
      let open: readonly number[] = [];
      let outageFrom = Number.POSITIVE_INFINITY;
      for (const [minutes, kind, choice] of happened) {
        at += minutes;
        const event = eventOf(kind, at, choice, state);
        const [next, change] = step(did, Object.freeze(state), event);
        expect(step(did, state, event)).toEqual([next, change]);
        expect(next.tracked.completeThrough ?? 0).toBeGreaterThanOrEqual(state.tracked.completeThrough ?? 0);
        open = oldestHole(open, event);
        expect(next.tracked.completeThrough ?? 0).toBeLessThanOrEqual(open[0] ?? Number.POSITIVE_INFINITY);
        if (change !== null) expect(change.gap.start).toBeLessThan(change.gap.end);
        if (change?.gap.reason === 'source_unavailable' && change.kind === 'record')
          outageFrom = Math.min(outageFrom, change.gap.start);
        // A replay leaves the source incomplete from `since`, which is also the start of the gap of `not_filled_in`.
        if (event.kind === 'replay_started') outageFrom = Math.min(outageFrom, event.since);
        // A denial records its gap without an event.
        if (event.kind === 'allowed') outageFrom = Math.min(outageFrom, next.outageSince ?? outageFrom);
        if (change?.kind === 'withdraw') expect(change.gap.start).toBeGreaterThanOrEqual(outageFrom);
        state = next;
      }
    }),
  );
});
