import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { gapChangeOf } from './gap-rules.ts';
import type { ReadingEvent } from './reading-events.ts';
import { delayLimit, type ReadingState } from './reading-state.ts';
import { type SourceEvent, transition } from './source-state.ts';

/** Minimum failed attempts, over more than the delay limit, after which a source is unavailable. */
const minAttempts = 3;

type EventOf<K extends ReadingEvent['kind']> = Extract<ReadingEvent, { kind: K }>;

/**
 * Returns the state of reading a source after an event, and the gap to record or withdraw. Reads no clock and changes
 * nothing.
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
      // It does not begin a trial.
      return state.beforeFirstAttempt === null ? state : { ...state, tracked: state.beforeFirstAttempt };
    case 'failed':
      return missing(failed(state, event), change);
    case 'answered':
      return answered(missing(state, change), event);
    case 'new_rows_stored':
      return state.outageSince === null ? state : { ...state, readAt: event.now };
    case 'returned':
      // Labels of the time without enrolment are missing until they are filled in.
      return state.tracked.lastAnswered === null || state.failing !== null
        ? state
        : { ...state, failing: { since: event.now, attempts: 0 } };
    case 'moved':
      return entered(
        { ...state, failing: null, tracked: { ...state.tracked, failingSince: null } },
        'moved',
        event.now,
      );
    case 'restarted':
      return entered(state, 'restarted', event.now);
    case 'completed':
      return completed(state, event.through);
    case 'reading_began':
      return change === null ? state : completed(state, change.gap.end);
    case 'caught_up':
      return completed({ ...state, outageSince: null, whole: true }, event.now);
    case 'replay_started':
      // If an outage was being filled in already, the accepted labels still count.
      return {
        ...{ ...state, whole: false, outageSince: event.since },
        readAt: state.outageSince === null ? null : state.readAt,
      };
    case 'fill_in_abandoned':
      return completed({ ...state, outageSince: null, whole: true }, event.through);
    case 'reset':
      return event.live && state.outageSince === null ? completed({ ...state, whole: true }, event.now) : state;
    default:
      // The other events only leave a gap or change the progress.
      return state;
  }
}

/** Labels from before an attempt that begins are unread. */
function asked(state: ReadingState, now: Micros): ReadingState {
  const { tracked } = state;
  const beforeFirstAttempt = tracked.firstAsked === null ? tracked : state.beforeFirstAttempt;
  const begun = entered({ ...state, beforeFirstAttempt, whole: false }, 'asked', now);
  return { ...begun, tracked: { ...begun.tracked, firstAsked: tracked.firstAsked ?? now } };
}

function failed(state: ReadingState, { now, fault }: EventOf<'failed'>): ReadingState {
  const { since = now, attempts = 0 } = state.failing ?? {};
  const tracked = { ...state.tracked, failingSince: state.tracked.failingSince ?? now };
  const long = now - since > delayLimit && attempts + 1 >= minAttempts;
  const failing = { since, attempts: attempts + 1 };
  const then = { ...state, tracked, failing, beforeFirstAttempt: null, whole: false };
  return entered(then, fault === 'failed' && long ? 'failed_long' : fault, now);
}

function answered(state: ReadingState, { now, live, ...labels }: EventOf<'answered'>): ReadingState {
  const dated = state.tracked.dated || labels.dated > 0;
  const undated = state.tracked.undated || labels.undated > 0;
  const event = undated && !dated ? 'only_undated' : 'answered';
  const responding = entered({ ...state, failing: null, beforeFirstAttempt: null }, event, now);
  const firstAnswered = responding.tracked.firstAnswered ?? now;
  const tracked = { ...responding.tracked, dated, undated, firstAnswered, lastAnswered: now, failingSince: null };
  const readAt = responding.outageSince === null ? null : (responding.readAt ?? now);
  const then = { ...responding, tracked, readAt };
  return then.whole && live ? completed(then, now) : then;
}

/** Marks an outage that is a gap as not yet filled in. */
function missing(state: ReadingState, change: GapChange | null): ReadingState {
  if (change === null) return state;
  return { ...state, outageSince: change.gap.start, readAt: state.outageSince === null ? null : state.readAt };
}

/** Advances the time up to which all labels are stored or recorded as a gap; it never decreases. */
function completed(state: ReadingState, at: Micros): ReadingState {
  const completeThrough = micros(Math.max(state.tracked.completeThrough ?? at, at));
  return { ...state, tracked: { ...state.tracked, completeThrough } };
}

function entered(reading: ReadingState, event: SourceEvent, now: Micros): ReadingState {
  const { tracked } = reading;
  const state = transition(tracked.state, event);
  return state === tracked.state ? reading : { ...reading, tracked: { ...tracked, state, stateSince: now } };
}
