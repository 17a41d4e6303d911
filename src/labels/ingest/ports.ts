import type { Micros } from '../../contract/timestamp.ts';
import type { SignatureVerdict } from '../../contract/vocabulary.ts';
import { createDecodedBytes, type DecodedBytes } from '../../input/decoded-bytes.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';
import type { Log } from '../../ops/log.ts';
import { labelBytes } from '../../store/label.ts';
import {
  type Batch,
  type GapChange,
  maxBatchBytes,
  maxBatchRows,
  type NewObservation,
  type StoreWriter,
} from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';
import type { Purges } from '../operator/denials.ts';
import type { RepeatMemory } from '../repeats/repeats.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import type { Pace, SourceUsage } from '../shares/pace.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { FilledIn, PageChanges } from '../state/filled-in.ts';
import type { ReadingEvent } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';
import type { Tracker } from '../state/tracker.ts';
import type { Outbound, Timings } from '../stream/outbound.ts';
import type { RefusedMemory } from './refused-memory.ts';

/** Access to labelers, and the memory for their responses. */
interface LabelQuery extends Pick<Outbound, 'http' | 'openStream' | 'streams'> {
  /** Memory budget for received and not yet stored input, shared by all sources. */
  readonly memory: InputMemory;
}

/** Ports for accepting rows into the store. */
interface Acceptance {
  /**
   * Queues a page. Resolves with the number of new rows once the page is durable. Rejects with `ClockChanged`, and with
   * another error if the store fails permanently or the instrument stops.
   */
  readonly accept: (page: AcceptedPage) => Promise<number>;
  /** Checks the signatures of rows as received; returns one verdict for each, in order. */
  readonly verify: (did: string, rows: readonly unknown[], signal: AbortSignal) => Promise<readonly SignatureVerdict[]>;
  readonly refused: RefusedMemory;
  /** Counts rows that repeat known labels after a change of key. */
  readonly repeats: Pick<RepeatMemory, 'find' | 'load'>;
  /** Records the times in which a source was read late. */
  readonly filledIn: Pick<FilledIn, 'load' | 'live' | 'covering' | 'forgetUnknown'>;
  /** Requests to remove the rows of a source, whose earlier labels are not accepted again. */
  readonly purges: Pick<Purges, 'requestedAt'>;
  readonly cap: DailyCap;
  readonly usage: SourceUsage;
  /** Returns a number that changes when the clock is set or confirmed, and at a takeover. */
  readonly clockGeneration: () => number;
}

/** Recording of gaps in the store. */
interface GapLog {
  /** Records or withdraws a gap; the change is durable before any later page of its source. */
  readonly change: (change: GapChange) => Promise<void>;
}

/** Clock, randomness and timings of readers. */
export interface ReaderTime {
  readonly clock: () => Micros;
  readonly epoch: Micros;
  readonly random: () => number;
  /** Resolves after `ms` milliseconds, or immediately when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly timings: Timings;
}

/** Receivers of reports from readers. */
interface ReaderReport {
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Called when a source cannot be read as its document describes, because the document may have changed. */
  readonly suspectDocument: (did: string) => void;
}

/** Ports of the readers. Each function declares the ports that it uses. */
export interface ReaderPorts {
  readonly query: LabelQuery;
  readonly acceptance: Acceptance;
  readonly gaps: GapLog;
  readonly time: ReaderTime;
  /** Limits the rate at which each source is read. */
  readonly pace: Pace;
  readonly report: ReaderReport;
}

/** Ports for reading one source, without the ports for accepting rows. */
export type ReadingPorts = Omit<ReaderPorts, 'acceptance'>;

/** Applies an event of a source, and records or withdraws the gap that the event causes. */
export async function note(source: Source | Tracker, gaps: GapLog, event: ReadingEvent): Promise<void> {
  const change = source.apply(event);
  if (change) await gaps.change(change);
}

/** Memory budget that all sources share for input that was received and is not stored yet. */
interface InputMemory {
  /**
   * Budget for the bytes of frames that wait to be decoded or are incomplete. The reader pauses a connection that
   * exceeds its share.
   */
  readonly queued: DecodedBytes;
  /** Budget for decoded frames and pages. */
  readonly decoded: DecodedBytes;
  /** Slots for requests of large pages, each of which may contain one huge label. */
  readonly largePages: Slots;
  /** Memory in bytes that every account may hold at any time. */
  readonly reserve: number;
}

const mib = 1024 * 1024;
/**
 * Memory reserved for each account of a budget, in bytes, so that a source with a few labels of 3 KiB never waits for
 * other sources. A stream has three accounts: the reserves of 5,000 streams need 234 MiB at most.
 */
const reservedMemory = 16 * 1024;

/** Creates the memory budget of one instrument: 128 MiB in total, plus the reserves. */
export function createInputMemory(): InputMemory {
  return {
    queued: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 0 }),
    decoded: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 32 * mib }),
    largePages: createSlots({ perHost: 1, total: 2, maxWaiting: 1_000 }),
    reserve: reservedMemory,
  };
}

/** All reasons for a pause of acceptance. */
export const pauseReasons = [
  'wal_full',
  'disk_full',
  'clock_behind',
  'busy',
  'unreachable',
  'clock_doubtful',
  'disk_low',
] as const;
/** Reason for a pause of acceptance. */
export type PauseReason = (typeof pauseReasons)[number];

/** Result of one check of the preconditions outside the store. */
export interface PreconditionCheck {
  readonly pause: PauseReason | null;
  /** Interval that the clock skipped or repeated since the last check, or null. */
  readonly gap: Interval | null;
  /**
   * Start of a pause that a clock step causes: the end of the step, even if no label has arrived since. Null if no
   * clock step made the clock doubtful.
   */
  readonly since: Micros | null;
}

/** Dependencies of `PageAcceptance`. */
export interface AcceptanceOptions {
  readonly store: Pick<StoreWriter, 'append' | 'recordGap'>;
  /** Returns the share that a source's page counts against. */
  readonly shareOf: (source: string) => ShareKey;
  /** Makes the pending gaps of the given sources durable. Resolves before the pages of the sources are committed. */
  readonly flushGaps: (sources: ReadonlySet<string>) => Promise<void>;
  /** Charges a source for the processor time of writing its page, in milliseconds. */
  readonly charge: (source: string, cpuMs: number) => void;
  readonly clock: () => Micros;
  /** Checks the preconditions outside the store; called before each commit. */
  readonly checkPreconditions: () => PreconditionCheck;
  readonly clockGeneration: () => number;
  /** Returns true if the operator denies the source. */
  readonly isDenied: (source: string) => boolean;
  /** Returns true if the store records a purge of the source. */
  readonly isPurged: (source: string) => boolean;
  /** Resolves after `ms` milliseconds; settles immediately when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly retryMs: number;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Called when the store cannot be trusted; the instrument must stop. */
  readonly fatal: (error: unknown) => void;
}

/** One page of one source: its accepted and refused labels, and the resume position after it. */
export interface AcceptedPage extends Omit<Batch, 'at'> {
  /** DID of the labeler that was read. */
  readonly source: string;
  /** Value of `clockGeneration` when the labels were judged. */
  readonly clockGeneration: number;
  /** Changes that contain the time of the commit, in addition to `positions`. */
  readonly marks?: readonly PageChanges[];
}

/**
 * Splits a page into parts that fit a batch. Only the last part has the positions, refusals and refused rows: after a
 * crash between two parts, all parts are read again.
 */
export function split(page: AcceptedPage): AcceptedPage[] {
  const parts: NewObservation[][] = [[]];
  let bytes = 0;
  for (const observation of page.observations) {
    const size = labelBytes(observation.label);
    const part = parts.at(-1) ?? [];
    if (part.length >= maxBatchRows || (part.length > 0 && bytes + size > maxBatchBytes / 2)) {
      parts.push([observation]);
      bytes = size;
    } else {
      part.push(observation);
      bytes += size;
    }
  }
  return parts.map((observations, i) => {
    const last = i === parts.length - 1;
    return {
      source: page.source,
      clockGeneration: page.clockGeneration,
      observations,
      refusals: last ? page.refusals : [],
      positions: last ? page.positions : [],
      refusedRows: last ? (page.refusedRows ?? []) : [],
    };
  });
}

/** Returns the batch that commits pages together. */
export function batchOf(at: Micros, pages: readonly AcceptedPage[]): Batch {
  return {
    at,
    observations: pages.flatMap(({ observations }) => observations),
    refusals: pages.flatMap(({ refusals }) => refusals),
    positions: pages.flatMap(({ positions, marks = [] }) => [
      ...positions,
      ...marks.flatMap((one) => one.changesAt(at)),
    ]),
    refusedRows: pages.flatMap(({ refusedRows }) => refusedRows ?? []),
  };
}

/** Returns the cost of a page in a batch, in bytes, if it is committed now. */
export function pageBytes(
  { observations, positions, refusedRows = [], marks = [] }: AcceptedPage,
  clock: () => Micros,
): number {
  const labels = observations.reduce((sum, { label }) => sum + labelBytes(label), 0);
  const changes = [...positions, ...marks.flatMap((one) => one.changesAt(clock()))];
  const texts = [
    ...changes.map(({ source, endpoint, value }) => `${value}${endpoint}${source}`),
    ...refusedRows.map(({ source, rows }) => `${rows}${source}`),
  ];
  return labels + texts.reduce((sum, text) => sum + 3 * text.length, 0);
}
