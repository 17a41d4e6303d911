import type { RefusalReason } from '../../store/port.ts';
import type { PriorityClass } from '../state/priority.ts';
import type { SourceState } from '../state/source-state.ts';

/** Oddities of servers that are worked around, and counted. */
export const quirks = [
  /** `"0"` as the cursor of an empty page. */
  'zero_cursor',
  /** A cursor that is the one asked with, or lower. */
  'cursor_not_advancing',
  /** Labels and no cursor. */
  'no_cursor',
  /** A cursor that is no number. */
  'opaque_cursor',
  /** Labels in no order of time. */
  'unordered_page',
  /** A message that cannot be read. */
  'malformed_frame',
  /** A message with more elements or depth than labels have. */
  'frame_over_budget',
  /** A message of a kind that we do not know. */
  'unknown_frame',
  'consumer_too_slow',
  'outdated_cursor',
  'future_cursor',
  /** The last row that was read no longer exists. */
  'tail_missing',
  /** The stream skips or repeats numbers backwards. */
  'seq_not_advancing',
] as const;
/** One of them. */
export type Quirk = (typeof quirks)[number];

/** Transport of a label. */
export type Transport = 'stream' | 'poll';

/** Further counts of labelers: `paused` ones are enrolled, the others are not. */
export type OtherLabelers = 'not_enrolled' | 'waiting' | 'paused' | 'denied';

/** Ways in which labelers are found. */
export const discoverySources = ['seeds', 'relay', 'jetstream', 'directory'] as const;
/** One of them. */
export type DiscoverySource = (typeof discoverySources)[number];

/** Parts of the instrument that read data of one labeler. */
export const sourceParts = ['reader', 'particulars'] as const;
/** One of them. */
export type SourcePart = (typeof sourceParts)[number];

/** Metrics of the instrument. Every dimension has a closed list of values; none names a labeler. */
export interface Telemetry {
  committed(accepted: number, duplicates: number, milliseconds: number): void;
  refused(reason: Exclude<RefusalReason, 'duplicate'>, count: number): void;
  page(transport: Transport): void;
  quirk(quirk: Quirk): void;
  /** A host had as many streams as it may, or a poll did not get its turn in time. */
  hostFull(transport: Transport): void;
  /** An error that one labeler's data caused ended what read it; the other labelers are not affected. */
  sourceFailed(part: SourcePart): void;
  /** Acceptance stands still for this reason, or goes on (null). */
  paused(reason: string | null): void;
  /** Enrolled sources by state; also labelers that are not enrolled or wait for a place, and paused sources. */
  sources(counts: Readonly<Record<SourceState, number>>, beside: Readonly<Record<OtherLabelers, number>>): void;
  /** Enrolled labelers by the way in which they were found. */
  found(counts: Readonly<Record<DiscoverySource, number>>): void;
  /** Sources that are held back because a share is used up, bytes added today, and the bytes that may be, in all. */
  shares(
    throttled: Readonly<Record<PriorityClass, number>>,
    usedBytes: Readonly<Record<PriorityClass, number>>,
    budgetBytes: number,
  ): void;
  published(atMs: number): void;
  /** Requested removals of rows that are not completed, and the days that they have left in sum. */
  purges(pending: number, daysLeft: number): void;
  /** Records whether the list of denied labelers was invalid when last read; the previous list then stays in force. */
  denyListDamaged(damaged: boolean): void;
  /** An artifact could not be written. */
  notWritten(): void;
}

/** Discards all metrics. */
export const noTelemetry: Telemetry = {
  committed: () => undefined,
  refused: () => undefined,
  page: () => undefined,
  quirk: () => undefined,
  hostFull: () => undefined,
  sourceFailed: () => undefined,
  paused: () => undefined,
  sources: () => undefined,
  found: () => undefined,
  shares: () => undefined,
  published: () => undefined,
  purges: () => undefined,
  denyListDamaged: () => undefined,
  notWritten: () => undefined,
};
