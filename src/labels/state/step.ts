import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { gapChangeOf } from './gap-rules.ts';
import type { ReadingEvent } from './reading-events.ts';
import { delayLimit, type ReadingState, unreadSince } from './reading-state.ts';
import { type SourceEvent, transition } from './source-state.ts';

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
      return state.tracked.lastAnswered === null || state.failing !== null
        ? state
        : { ...state, failing: { since: event.now, attempts: 0 } };
    case 'moved':
      return moved(state, event.now);
    case 'endpoint_changed':
      // Only a label at the new endpoint proves that the endpoint is the source's own.
      return { ...state, tracked: { ...state.tracked, dated: false, undated: false } };
    case 'restarted':
      return entered(state, 'restarted', event.now);
    case 'completed':
      return completed(state, event.through);
    case 'taken_over':
      return takenOver(state, event);
    case 'reading_began':
      return change === null ? state : completed(state, change.gap.end);
    case 'caught_up':
      return completed({ ...state, outageSince: null, whole: true }, event.now);
    case 'replay_started':
      // Keep the time of the last accepted labels if an outage was already being filled in.
      return {
        ...{ ...state, whole: false, outageSince: event.since },
        readAt: state.outageSince === null ? null : state.readAt,
      };
    case 'fill_in_abandoned':
      return completed({ ...state, outageSince: null, whole: true }, event.through);
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
  const long = now - since > delayLimit && attempts + 1 >= minAttempts;
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
  return then.whole && live ? completed(then, now) : then;
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
 * Returns the state with a later time up to which all labels are stored or recorded as a gap; the time never decreases,
 * and never passes a message that was not understood.
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
