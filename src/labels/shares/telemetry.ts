import type { RefusalReason } from '../../store/port.ts';
import type { PriorityClass } from '../state/priority.ts';
import type { SourceState } from '../state/source-state.ts';

/** Oddities of servers that are worked around, and counted. */
export const quirks = [
  /** `"0"` as the cursor of an empty page. */
  'zero_cursor',
  /** A cursor that is not higher than the requested one. */
  'cursor_not_advancing',
  /** Labels without a cursor. */
  'no_cursor',
  /** A cursor that is not a number. */
  'opaque_cursor',
  /** Labels that are not in order of time. */
  'unordered_page',
  /** An unreadable message. */
  'malformed_frame',
  /** A message with more elements or depth than labels have. */
  'frame_over_budget',
  /** A message of an unknown kind. */
  'unknown_frame',
  'consumer_too_slow',
  'outdated_cursor',
  'future_cursor',
  /** The last row that was read no longer exists. */
  'tail_missing',
  /** Frame numbers that decrease. */
  'seq_not_advancing',
] as const;
/** One of them. */
export type Quirk = (typeof quirks)[number];

/** Transport of a label. */
export type Transport = 'stream' | 'poll';

/** Labelers that the source states do not count; `paused` ones are enrolled, the others are not. */
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
  /** Counts a stream or poll that got no slot of its host. */
  hostFull(transport: Transport): void;
  /** Counts an error that one labeler's data caused. */
  sourceFailed(part: SourcePart): void;
  /** Records the reason for a pause of acceptance; null if there is none. */
  paused(reason: string | null): void;
  /** Enrolled sources by state; also labelers that are not enrolled or wait for a place, and paused sources. */
  sources(counts: Readonly<Record<SourceState, number>>, others: Readonly<Record<OtherLabelers, number>>): void;
  /** Enrolled labelers by the way in which they were found. */
  found(counts: Readonly<Record<DiscoverySource, number>>): void;
  /** Throttled sources by class, bytes added today by class, and the day's budget. */
  shares(
    throttled: Readonly<Record<PriorityClass, number>>,
    usedBytes: Readonly<Record<PriorityClass, number>>,
    budgetBytes: number,
  ): void;
  published(atMs: number): void;
  /** Number of pending purges, and the total of days that they still have to rewrite. */
  purges(pending: number, daysLeft: number): void;
  /** True if the list of denied labelers was invalid when last read; the previous list then stays in force. */
  denyListDamaged(damaged: boolean): void;
  /** Counts an artifact that could not be written. */
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
