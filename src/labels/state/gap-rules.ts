import type { Micros } from '../../contract/timestamp.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import type { ReadingEvent } from './reading-events.ts';
import { delayLimit, type ReadingState, unreadSince } from './reading-state.ts';

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
  return lastKnown !== null && event.now - lastKnown > delayLimit;
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
      of: (state, event) => state.failing !== null && isOverdue(state, event),
    },
    ...{ change: 'record', reason: 'source_unavailable', from: complete, until: now },
  }),
  rule('reading_began', {
    when: {
      // An outage records a separate gap, which has a different reason.
      text: 'no outage is under way',
      of: ({ outageSince, failing, tracked }) =>
        outageSince === null && (failing === null || tracked.lastAnswered === null),
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
  rule('throttled', {
    ...{ when: always, change: 'record', reason: 'ingest_paused' },
    ...{ from: completeOrEpoch, until: now },
  }),
  rule('share_used_up', {
    ...{ when: always, change: 'record', reason: 'ingest_paused' },
    ...{ from: completeOrEpoch, until: now },
  }),
  // A limit of this instrument, not the source, ended the reading.
  rule('displaced', {
    ...{ when: answeredBefore, change: 'record', reason: 'ingest_paused' },
    ...{ from: complete, until: now },
  }),
  rule('left', {
    ...{ when: answeredBefore, change: 'record', reason: 'source_unavailable' },
    ...{ from: complete, until: now },
  }),
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
export function gapChangeOf(source: string, state: ReadingState, event: ReadingEvent): GapChange | null {
  const row = gapRules.find((one) => one.event === event.kind && one.when.of(state, event));
  if (row === undefined) return null;
  const [start, end] = [row.from.of(state, event), row.until.of(state, event)];
  if (start === null || start >= end) return null;
  return { kind: row.change, gap: { source, start, end, reason: row.reason } };
}
