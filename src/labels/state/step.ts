import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import type { ReadingEvent } from './reading-events.ts';
import {
  type ReadingState,
  type SourceEvent,
  stateTimes,
  type TrackedState,
  transition,
  unreadSince,
} from './reading-state.ts';

/** Minimum number of failed attempts, over more than the delay limit, after which a source is unavailable. */
export const minAttempts = 3;

type EventOf<K extends ReadingEvent['kind']> = Extract<ReadingEvent, { kind: K }>;

/**
 * Returns the state of reading a source after an event, and the gap to record or withdraw. The function is pure: it
 * reads no clock and changes no state.
 */
export function step(
  source: string,
  state: ReadingState,
  event: ReadingEvent,
): readonly [ReadingState, GapChange | null] {
  const change = gapChangeOf(source, state, event);
  return [next(state, event, change), change];
}

function next(state: ReadingState, event: ReadingEvent, change: GapChange | null): ReadingState {
  switch (event.kind) {
    case 'asked':
      return asked(state, event.now);
    case 'not_asked':
      // Do not begin a trial with an attempt that a limit of this instrument prevented.
      return state.beforeFirstAttempt === null ? state : { ...state, tracked: state.beforeFirstAttempt };
    case 'failed':
      return missing(failed(state, event), change);
    case 'answered':
      return answered(missing(state, change), event);
    case 'stream_opened':
      return { ...state, readBy: 'stream' };
    case 'pages_read':
      return { ...state, readBy: 'pages' };
    case 'row_keeping_seen':
      return { ...state, replacesRows: event.replaces };
    case 'new_rows_stored':
      return state.outageSince === null ? state : { ...state, readAt: event.now };
    case 'returned':
      // Labels emitted while the source was not enrolled are missing until they are filled in.
      return state.tracked.lastAnswered === null ? state : failingFrom(state, event.now);
    case 'allowed':
      return allowed(state, event.now);
    case 'displaced':
      return displaced(state, event.now);
    case 'moved':
      return moved(state, event.now);
    case 'endpoint_changed':
      // Only a label at the new endpoint proves that the endpoint is the source's own.
      return { ...state, tracked: { ...state.tracked, dated: false, undated: false } };
    case 'restarted':
      return entered(state, 'restarted', event.now);
    case 'clock_corrected':
      return corrected(state, event.now);
    case 'completed':
      return completed(state, event.through);
    case 'taken_over':
      return takenOver(state, event);
    case 'reading_began':
      return change === null ? state : completed(state, change.gap.end);
    case 'caught_up':
      // The page may have been requested while the clock was ahead.
      return completed({ ...state, outageSince: null, whole: true }, earlier(event.through, event.now));
    case 'fill_in_abandoned':
      return completed({ ...state, outageSince: null, whole: true }, event.through);
    case 'replay_started':
      // Keep the time of the last accepted labels if an outage was already being filled in.
      return {
        ...{ ...state, whole: false, outageSince: event.since },
        readAt: state.outageSince === null ? null : state.readAt,
      };
    case 'reset':
      return reset({ ...state, hole: null }, event);
    default:
      return nextHole(state, event, change);
  }
}

/** Returns the state after an event that may open or close a hole. */
function nextHole(state: ReadingState, event: ReadingEvent, change: GapChange | null): ReadingState {
  switch (event.kind) {
    case 'not_filled_in':
      return closed(state, event.opened);
    case 'hole_found':
      return {
        ...state,
        hole: { since: state.hole?.since ?? unreadSince(state) ?? event.epoch, last: event.now },
      };
    case 'holes_closed':
      return closed(state, event.through);
    case 'holes_left':
      return change === null ? { ...state, hole: null } : completed({ ...state, hole: null }, change.gap.end);
    default:
      // All other events leave this state unchanged; they may cause a gap or change the progress.
      return state;
  }
}

function reset(state: ReadingState, event: EventOf<'reset'>): ReadingState {
  return event.live && state.outageSince === null ? completed({ ...state, whole: true }, event.now) : state;
}

/**
 * Returns the state after a denial. The denial is an outage whose gap is already recorded, however short it was. Until
 * the source responds, it counts as failing since now, so that its first response extends the gap up to that time, also
 * after a restart.
 */
function allowed(state: ReadingState, now: Micros): ReadingState {
  const { lastAnswered } = state.tracked;
  if (lastAnswered === null) return state;
  return {
    ...{ ...failingFrom(state, now), whole: false },
    ...{ outageSince: unreadSince(state) ?? lastAnswered, readAt: state.outageSince === null ? null : state.readAt },
  };
}

/**
 * Returns the state of a source that counts as failing since `now`, until it responds. Earlier failures are no evidence
 * about the time in which this instrument did not try to read the source.
 */
function failingFrom(state: ReadingState, now: Micros): ReadingState {
  return { ...state, failing: { since: now, attempts: 0 }, tracked: { ...state.tracked, failingSince: now } };
}

/**
 * Returns the state of a source that waits for a reading slot. It does not become unreachable while this instrument does
 * not try to read it. A source that is unreachable already stays so until it responds.
 */
function displaced(state: ReadingState, now: Micros): ReadingState {
  const { failingSince } = state.tracked;
  if (failingSince !== null && now - failingSince >= stateTimes.unreachableAfter) return state;
  return { ...state, failing: null, tracked: { ...state.tracked, failingSince: null } };
}

function moved(state: ReadingState, now: Micros): ReadingState {
  const tracked = { ...state.tracked, failingSince: null };
  return entered({ ...state, failing: null, problem: null, tracked }, 'moved', now);
}

/** Returns the state at the start of an attempt. From then on, the source no longer counts as read to its end. */
function asked(state: ReadingState, now: Micros): ReadingState {
  const { tracked } = state;
  const beforeFirstAttempt = tracked.firstAsked === null ? tracked : state.beforeFirstAttempt;
  const begun = entered({ ...state, beforeFirstAttempt, whole: false }, 'asked', now);
  return { ...begun, tracked: { ...begun.tracked, firstAsked: tracked.firstAsked ?? now } };
}

function failed(state: ReadingState, { now, fault, problem = 'unknown' }: EventOf<'failed'>): ReadingState {
  const { since = now, attempts = 0 } = state.failing ?? {};
  const tracked = { ...state.tracked, failingSince: state.tracked.failingSince ?? now };
  const long = now - since > stateTimes.delayLimit && attempts + 1 >= minAttempts;
  const failing = { since, attempts: attempts + 1 };
  const then = { ...state, tracked, failing, problem, beforeFirstAttempt: null, whole: false };
  return entered(then, fault === 'failed' && long ? 'failed_long' : fault, now);
}

function answered(state: ReadingState, { now, live, ...labels }: EventOf<'answered'>): ReadingState {
  const dated = state.tracked.dated || labels.dated > 0;
  const undated = state.tracked.undated || labels.undated > 0;
  const event = undated && !dated ? 'only_undated' : 'answered';
  const responding = entered({ ...state, failing: null, problem: null, beforeFirstAttempt: null }, event, now);
  const firstAnswered = responding.tracked.firstAnswered ?? now;
  const tracked = { ...responding.tracked, dated, undated, firstAnswered, lastAnswered: now, failingSince: null };
  const readAt = responding.outageSince === null ? null : (responding.readAt ?? now);
  const then = { ...responding, tracked, readAt };
  return then.whole && live !== null ? completed(then, earlier(live, now)) : then;
}

/**
 * Returns the state without times after `now`, which a clock that was ahead caused. Otherwise the source would count as
 * complete until the clock has passed these times again, and its gaps until then would not be recorded.
 */
function corrected(state: ReadingState, now: Micros): ReadingState {
  const { tracked, failing, hole, beforeFirstAttempt } = state;
  return {
    ...state,
    tracked: trackedUntil(tracked, now),
    beforeFirstAttempt: beforeFirstAttempt === null ? null : trackedUntil(beforeFirstAttempt, now),
    failing: failing === null ? null : { ...failing, since: earlier(failing.since, now) },
    outageSince: earlier(state.outageSince, now),
    readAt: earlier(state.readAt, now),
    // The progress of the source has the same `last`, by which both close their holes.
    hole: hole === null ? null : { ...hole, since: earlier(hole.since, now) },
  };
}

function trackedUntil(tracked: TrackedState, now: Micros): TrackedState {
  const { stateSince, firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough } = tracked;
  return {
    ...{ ...tracked, stateSince: earlier(stateSince, now), firstAsked: earlier(firstAsked, now) },
    ...{ firstAnswered: earlier(firstAnswered, now), lastAnswered: earlier(lastAnswered, now) },
    ...{ failingSince: earlier(failingSince, now), completeThrough: earlier(completeThrough, now) },
  };
}

/** Returns the earlier of two times; null for an unknown time. */
function earlier<T extends Micros | null>(at: T, now: Micros): T | Micros {
  return at !== null && at > now ? now : at;
}

/** Returns the state with the progress of the replaced instrument, if that instrument was ahead. */
function takenOver(state: ReadingState, { completeThrough, lastAnswered }: EventOf<'taken_over'>): ReadingState {
  const { tracked, outageSince } = state;
  const later = (a: Micros | null, b: Micros | null): Micros | null =>
    a === null || b === null ? (a ?? b) : micros(Math.max(a, b));
  return {
    ...state,
    outageSince: outageSince === null ? null : later(outageSince, completeThrough),
    tracked: {
      ...tracked,
      completeThrough: later(tracked.completeThrough, completeThrough),
      lastAnswered: later(tracked.lastAnswered, lastAnswered),
      firstAnswered: tracked.firstAnswered ?? lastAnswered,
    },
  };
}

/** Marks the outage as not yet filled in if it was recorded as a gap. */
function missing(state: ReadingState, change: GapChange | null): ReadingState {
  if (change === null) return state;
  return { ...state, outageSince: change.gap.start, readAt: state.outageSince === null ? null : state.readAt };
}

/** Returns the state after the messages that were not understood until `through` are read or recorded as a gap. */
function closed(state: ReadingState, through: Micros): ReadingState {
  const { hole } = state;
  if (hole === null) return state;
  const rest = { since: micros(Math.max(hole.since, through)), last: hole.last };
  return { ...state, hole: hole.last <= through ? null : rest };
}

/**
 * Returns the state with a later time up to which all labels are stored or recorded as a gap; only a
 * corrected clock makes this time earlier, and it never passes a message that was not understood.
 */
function completed(state: ReadingState, until: Micros): ReadingState {
  const at = state.hole === null ? until : micros(Math.min(until, state.hole.since));
  const completeThrough = micros(Math.max(state.tracked.completeThrough ?? at, at));
  return { ...state, tracked: { ...state.tracked, completeThrough } };
}

function entered(reading: ReadingState, event: SourceEvent, now: Micros): ReadingState {
  const { tracked } = reading;
  const state = transition(tracked.state, event);
  return state === tracked.state ? reading : { ...reading, tracked: { ...tracked, state, stateSince: now } };
}

/** One row of the table of gap rules: a gap that an event records or withdraws. */
interface GapRule<E extends ReadingEvent = ReadingEvent> {
  readonly event: E['kind'];
  /** Condition of the row, checked against the state before the event. */
  readonly when: Part<E, boolean>;
  readonly change: GapChange['kind'];
  readonly reason: StoredGap['reason'];
  readonly from: Part<E, Micros | null>;
  readonly until: Part<E, Micros>;
}

/** Part of a rule: its text in the documentation, and its computation. */
interface Part<E extends ReadingEvent, Value> {
  readonly text: string;
  of(state: ReadingState, event: E): Value;
}

const always = { text: 'always', of: () => true };
const now = { text: 'now', of: (_: ReadingState, event: { readonly now: Micros }) => event.now };
/**
 * Start of a gap: the time up to which the source was complete. For a source that was never complete, the start is the
 * last response, which is the nearest known bound. A source that never responded has no start, and thus no gap.
 */
const complete = {
  text: 'last complete',
  of: (state: ReadingState) => unreadSince(state) ?? state.tracked.lastAnswered,
};
const completeOrEpoch = {
  text: 'last complete, else the epoch',
  of: (state: ReadingState, event: { readonly epoch: Micros }) => unreadSince(state) ?? event.epoch,
};
const answeredBefore = {
  text: 'the source has responded before',
  of: ({ tracked }: ReadingState) => tracked.lastAnswered !== null,
};

/**
 * Returns true if the time since the start of the outage, or else since the last response, exceeds the delay limit.
 * Returns false for a source that never responded.
 */
function isOverdue({ outageSince, tracked }: ReadingState, event: { readonly now: Micros }): boolean {
  const lastKnown = outageSince ?? tracked.lastAnswered;
  return lastKnown !== null && event.now - lastKnown > stateTimes.delayLimit;
}

/**
 * Returns true if the last attempt failed, even if that was before a restart: an earlier run may have recorded a gap,
 * whose labels the first reading of this run fills in.
 */
function isFailing({ failing, tracked }: ReadingState): boolean {
  return failing !== null || tracked.failingSince !== null;
}

/** Creates a row of the table, typed by its event. */
function rule<K extends ReadingEvent['kind']>(
  event: K,
  row: Omit<GapRule<Extract<ReadingEvent, { kind: K }>>, 'event'>,
): GapRule {
  return { event, ...row };
}

/**
 * Table of the gaps that reading a source causes. The documentation contains the same table. The first row that matches
 * the event and whose condition holds applies. A row without a known start, or with an empty interval, changes no gap.
 */
export const gapRules: readonly GapRule[] = [
  rule('failed', {
    when: { text: 'the last response, or the start of the outage, is more than 15 minutes ago', of: isOverdue },
    ...{ change: 'record', reason: 'source_unavailable', from: complete, until: now },
  }),
  rule('answered', {
    when: {
      text: 'attempts were failing, and the last response, or the start of the outage, is more than 15 minutes ago',
      of: (state, event) => isFailing(state) && isOverdue(state, event),
    },
    ...{ change: 'record', reason: 'source_unavailable', from: complete, until: now },
  }),
  rule('reading_began', {
    when: {
      // An outage records a separate gap, which has a different reason.
      text: 'no outage is under way',
      of: (state) => state.outageSince === null && (!isFailing(state) || state.tracked.lastAnswered === null),
    },
    ...{ change: 'record', reason: 'not_observed' },
    from: { text: 'last complete before reading began', of: (_, { before }) => before.since },
    until: { text: 'the oldest label accepted when reading began', of: (_, { before }) => before.target },
  }),
  rule('caught_up', {
    when: {
      text: 'an outage was filled in',
      of: ({ outageSince }, event) => outageSince !== null && event.now > event.reached,
    },
    ...{ change: 'withdraw', reason: 'source_unavailable' },
    from: {
      text: 'last complete or the oldest accepted label, whichever is later',
      of: ({ outageSince }, { reached }) => micros(Math.max(outageSince ?? reached, reached)),
    },
    until: now,
  }),
  rule('caught_up', {
    when: {
      text: 'labels were too old when reading began',
      of: (_, { before }) => before.since < before.target,
    },
    ...{ change: 'record', reason: 'not_observed' },
    from: { text: 'last complete before reading began', of: (_, { before }) => before.since },
    // This interval includes labels that became too old while the source was read.
    until: { text: 'the oldest accepted label', of: (_, { reached }) => reached },
  }),
  rule('not_filled_in', {
    ...{ when: always, change: 'record', reason: 'source_unavailable' },
    from: { text: 'last complete before the stream opened', of: (_, { since }) => since },
    until: { text: 'the stream opened', of: (_, { opened }) => opened },
  }),
  rule('reset', { when: always, change: 'record', reason: 'cursor_reset', from: completeOrEpoch, until: now }),
  rule('throttled', { when: always, change: 'record', reason: 'ingest_paused', from: completeOrEpoch, until: now }),
  rule('share_used_up', { when: always, change: 'record', reason: 'ingest_paused', from: completeOrEpoch, until: now }),
  // A limit of this instrument, not the source, ended the reading.
  rule('displaced', { when: answeredBefore, change: 'record', reason: 'ingest_paused', from: complete, until: now }),
  rule('left', { when: answeredBefore, change: 'record', reason: 'source_unavailable', from: complete, until: now }),
  rule('holes_left', {
    when: { text: 'messages of the stream were not understood', of: ({ hole }) => hole !== null },
    ...{ change: 'record', reason: 'not_observed' },
    from: { text: 'last complete before the first of them', of: ({ hole }) => hole?.since ?? null },
    until: { text: 'the last of them', of: ({ hole }) => hole?.last ?? micros(0) },
  }),
];

/**
 * Returns the change to the gaps that the table defines for an event, or null if no row applies, the start is unknown,
 * or the interval is empty.
 */
function gapChangeOf(source: string, state: ReadingState, event: ReadingEvent): GapChange | null {
  const row = gapRules.find((one) => one.event === event.kind && one.when.of(state, event));
  if (row === undefined) return null;
  const [start, end] = [row.from.of(state, event), row.until.of(state, event)];
  if (start === null || start >= end) return null;
  return { kind: row.change, gap: { source, start, end, reason: row.reason } };
}
