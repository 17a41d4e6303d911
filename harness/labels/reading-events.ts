import type { Micros } from '../../src/contract/timestamp.ts';
import type { Fault, ReadingEvent, Unread } from '../../src/labels/state/reading-events.ts';

/** Creates the event that an attempt to read a source begins. */
export function asked(now: Micros): ReadingEvent {
  return { kind: 'asked', now };
}

/** Creates the event that a page or frames of a source were admitted. */
export function answered(
  now: Micros,
  { dated, undated, live = false }: { readonly dated: number; readonly undated: number; readonly live?: boolean },
): ReadingEvent {
  return { kind: 'answered', now, dated, undated, live };
}

/** Creates the event that an attempt to read a source failed. */
export function failed(now: Micros, fault: Fault): ReadingEvent {
  return { kind: 'failed', now, fault };
}

/** Creates the event that a source was read completely, back to `reached`. */
export function caughtUp(
  reached: Micros,
  now: Micros,
  before: Unread = { since: reached, target: reached },
): ReadingEvent {
  return { kind: 'caught_up', now, reached, before };
}
