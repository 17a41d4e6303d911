import type { Micros } from '../../src/contract/timestamp.ts';
import type { AcceptedPage } from '../../src/labels/ingest/ports.ts';
import type { ReadingEvent, SourceFault, Unread } from '../../src/labels/state/reading-events.ts';

/** A page of one source without labels and without a position. */
export const emptyPage: AcceptedPage = {
  ...{ source: 'did:web:a.test', observations: [], refusals: [], positions: [], clockGeneration: 0 },
};

/** Creates the event for the start of an attempt to read a source. */
export function asked(now: Micros): ReadingEvent {
  return { kind: 'asked', now };
}

/** Creates the event for the admission of a source's page or frames. */
export function answered(
  now: Micros,
  { dated, undated, live = false }: { readonly dated: number; readonly undated: number; readonly live?: boolean },
): ReadingEvent {
  return { kind: 'answered', now, dated, undated, live: live ? now : null };
}

/** Creates the event for a failed attempt to read a source. */
export function failed(now: Micros, fault: NonNullable<SourceFault['fault']>): ReadingEvent {
  return { kind: 'failed', now, fault };
}

/** Creates the event for a source that has been read completely from `reached` to `now`. */
export function caughtUp(
  reached: Micros,
  now: Micros,
  before: Unread = { since: reached, target: reached },
): ReadingEvent {
  return { kind: 'caught_up', now, through: now, reached, before };
}
