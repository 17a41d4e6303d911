import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { gapChangeOf } from './gap-rules.ts';
import type { ReadingEvent } from './reading-events.ts';
import { delayLimit, type ReadingState } from './reading-state.ts';
import { type SourceEvent, transition } from './source-state.ts';

/** Failing for longer than the delay limit, with at least this many tries, a source is unavailable. */
const minAttempts = 3;

type EventOf<K extends ReadingEvent['kind']> = Extract<ReadingEvent, { kind: K }>;

/**
 * The one transition of the reading of a source: the state after an event, and the gap that is to be recorded or taken
 * back. It reads no clock and changes nothing.
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
      // A trial does not begin with it.
      return state.beforeFirstAttempt === null ? state : { ...state, tracked: state.beforeFirstAttempt };
    case 'failed':
      return missing(failed(state, event), change);
    case 'answered':
      return answered(missing(state, change), event);
    case 'new_rows_stored':
      return state.outageSince === null ? state : { ...state, readAt: event.now };
    case 'returned':
      // What it published while it was not enrolled is missing until it is filled in.
      return state.tracked.lastAnswered === null || state.failing !== null
        ? state
        : { ...state, failing: { since: event.now, tries: 0 } };
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
      // Where it was behind already, what was taken so far still counts.
      return {
        ...{ ...state, whole: false, outageSince: event.since },
        readAt: state.outageSince === null ? null : state.readAt,
      };
    case 'fill_in_abandoned':
      return completed({ ...state, outageSince: null, whole: true }, event.through);
    case 'reset':
      return event.live && state.outageSince === null ? completed({ ...state, whole: true }, event.now) : state;
    default:
      // The others leave a gap or move the place, and nothing else.
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
  const { since = now, tries = 0 } = state.failing ?? {};
  const tracked = { ...state.tracked, failingSince: state.tracked.failingSince ?? now };
  const long = now - since > delayLimit && tries + 1 >= minAttempts;
  const failing = { since, tries: tries + 1 };
  const then = { ...state, tracked, failing, beforeFirstAttempt: null, whole: false };
  return entered(then, fault === 'failed' && long ? 'failed_long' : fault, now);
}

function answered(state: ReadingState, { now, live, ...labels }: EventOf<'answered'>): ReadingState {
  const dated = state.tracked.dated || labels.dated > 0;
  const undated = state.tracked.undated || labels.undated > 0;
  const event = undated && !dated ? 'only_undated' : 'answered';
  const heard = entered({ ...state, failing: null, beforeFirstAttempt: null }, event, now);
  const firstAnswered = heard.tracked.firstAnswered ?? now;
  const tracked = { ...heard.tracked, dated, undated, firstAnswered, lastAnswered: now, failingSince: null };
  const readAt = heard.outageSince === null ? null : (heard.readAt ?? now);
  const then = { ...heard, tracked, readAt };
  return then.whole && live ? completed(then, now) : then;
}

/** An outage that is a gap has to be filled in. */
function missing(state: ReadingState, change: GapChange | null): ReadingState {
  if (change === null) return state;
  return { ...state, outageSince: change.gap.start, readAt: state.outageSince === null ? null : state.readAt };
}

/** All that it gave until then is stored, or recorded as a gap; it never becomes less. */
function completed(state: ReadingState, at: Micros): ReadingState {
  const completeThrough = micros(Math.max(state.tracked.completeThrough ?? at, at));
  return { ...state, tracked: { ...state.tracked, completeThrough } };
}

function entered(reading: ReadingState, event: SourceEvent, now: Micros): ReadingState {
  const { tracked } = reading;
  const state = transition(tracked.state, event);
  return state === tracked.state ? reading : { ...reading, tracked: { ...tracked, state, stateSince: now } };
}
