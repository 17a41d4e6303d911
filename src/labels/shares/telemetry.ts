import type { RefusalReason } from '../../store/port.ts';
import type { PriorityClass, SourceState } from '../state/reading-state.ts';
import type { Role } from '../state/role.ts';

/** Oddities of labelers' servers that the instrument handles and counts. */
export const quirks = [
  /** The cursor of a page is `"0"`. */
  'zero_cursor',
  /** A cursor is not higher than the requested one. */
  'cursor_not_advancing',
  /** A page with labels has no cursor. */
  'no_cursor',
  /** A cursor is not a number. */
  'opaque_cursor',
  /** The labels of a page are not in order of time. */
  'unordered_page',
  /** A message cannot be decoded. */
  'malformed_frame',
  /** A message exceeds the limits on its depth, elements or fields. */
  'frame_over_budget',
  /** A message has an unknown kind. */
  'unknown_frame',
  'consumer_too_slow',
  'outdated_cursor',
  'future_cursor',
  /** A page or a stream does not show the last row that was read. */
  'tail_missing',
  /** The numbers of frames decrease. */
  'seq_not_advancing',
] as const;
/** One oddity of a labeler's server. */
type Quirk = (typeof quirks)[number];

/** Transport of a label. */
export type Transport = 'stream' | 'poll';

/** Groups of labelers that the source states do not count. Only the `paused` labelers are enrolled. */
type OtherLabelers = 'not_enrolled' | 'waiting' | 'paused' | 'denied';

/** Kinds of discovery sources, which name labelers. */
export const discoverySources = ['seeds', 'relay', 'jetstream', 'directory'] as const;
/** One kind of discovery source. */
type DiscoverySource = (typeof discoverySources)[number];

/** Parts of the instrument that read data of one labeler. */
export const sourceParts = ['reader', 'particulars', 'listing'] as const;
/** One part of the instrument that reads data of one labeler. */
type SourcePart = (typeof sourceParts)[number];

/** Metrics of the instrument. Every dimension has a closed list of values, and no value names a labeler. */
export interface Telemetry {
  committed(accepted: number, duplicates: number, milliseconds: number): void;
  refused(reason: Exclude<RefusalReason, 'duplicate'>, count: number): void;
  page(transport: Transport): void;
  /** Counts items that a labeler delivered and that were neither stored, refused, held as a hole, nor left. */
  unbalanced(items: number): void;
  quirk(quirk: Quirk): void;
  /** Counts a stream or poll that got no slot for its host. */
  hostFull(transport: Transport): void;
  /** Counts an error that one labeler's data caused. */
  sourceFailed(part: SourcePart): void;
  /** Records the reason for the current pause of acceptance, or null if acceptance is not paused. */
  paused(reason: string | null): void;
  /** Records the number of enrolled sources by state, and the number of labelers in each other group. */
  sources(counts: Readonly<Record<SourceState, number>>, others: Readonly<Record<OtherLabelers, number>>): void;
  /** Records the number of enrolled labelers by the kind of discovery source that named them. */
  found(counts: Readonly<Record<DiscoverySource, number>>): void;
  /** Records the number of throttled sources and the bytes added today, both by class, and the daily budget. */
  shares(
    throttled: Readonly<Record<PriorityClass, number>>,
    usedBytes: Readonly<Record<PriorityClass, number>>,
    budgetBytes: number,
  ): void;
  published(atMs: number): void;
  /**
   * Records the role of this instrument, and the rows that it keeps as a standby; `oldestMs` is null if it keeps no
   * rows.
   */
  role(
    role: Role,
    kept: {
      readonly rows: number;
      readonly bytes: number;
      readonly oldestMs: number | null;
      /** True if this standby can replace the writer without a gap. */
      readonly isReady: boolean;
    },
  ): void;
  /** Counts rows that a standby dropped because its buffer was full. */
  standbyDropped(rows: number): void;
  /** Records the number of pending purges, and the total number of days that they still have to rewrite. */
  purges(pending: number, daysLeft: number): void;
  /**
   * Records whether the list of denied labelers was invalid at the last read. While the list is invalid, the previous
   * list stays in force.
   */
  denyListDamaged(damaged: boolean): void;
  /** Records the number of labelers in the labelers artifact, and the bytes of its files. */
  listed(labelers: number, bytes: number): void;
  /** Counts an artifact that could not be written. */
  notWritten(): void;
}

/** Implementation of the metrics that discards all of them. */
export const noTelemetry: Telemetry = {
  committed: () => undefined,
  refused: () => undefined,
  page: () => undefined,
  unbalanced: () => undefined,
  quirk: () => undefined,
  hostFull: () => undefined,
  sourceFailed: () => undefined,
  paused: () => undefined,
  sources: () => undefined,
  found: () => undefined,
  shares: () => undefined,
  published: () => undefined,
  role: () => undefined,
  standbyDropped: () => undefined,
  purges: () => undefined,
  denyListDamaged: () => undefined,
  listed: () => undefined,
  notWritten: () => undefined,
};
