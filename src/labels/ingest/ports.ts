import type { Micros } from '../../contract/timestamp.ts';
import type { Slots } from '../../network/guard/slots.ts';
import type { HttpClient } from '../../network/http/http.ts';
import type { Log } from '../../ops/log.ts';
import type { SignatureVerdict } from '../../store/label.ts';
import type { GapChange } from '../../store/port.ts';
import type { RepeatMemory } from '../repeats/repeat-memory.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import type { Pace } from '../shares/pace.ts';
import type { SourceUsage } from '../shares/source-usage.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { ReadingEvent } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';
import type { Tracker } from '../state/tracker.ts';
import type { OpenStream } from '../stream/open-stream.ts';
import type { Rhythm } from '../stream/rhythm.ts';
import type { AcceptedPage } from './acceptance.ts';
import { maxLateness } from './admission.ts';
import type { InputMemory } from './input-memory.ts';
import type { RefusedMemory } from './refused-memory.ts';

/** The ways to labelers, and the memory for what they give. */
export interface LabelQuery {
  readonly http: HttpClient;
  /** Opens streams of labelers, few at a time. */
  readonly openStream: OpenStream;
  /** Connections to streams, bounded by host and registrable domain: many labelers may share one. */
  readonly streams: Slots;
  /** Memory for what sources gave and is not yet stored, shared between them. */
  readonly memory: InputMemory;
  /** Records the time that an upstream reports, in milliseconds. */
  readonly heardTime: (milliseconds: number) => void;
}

/** The way of rows to the store. */
export interface Acceptance {
  /** Hands a page to the writer; resolves once it is durable, with how many rows were new; rejects when we stop. */
  readonly accept: (page: AcceptedPage) => Promise<number>;
  /** Judges the signatures of rows as they came; one verdict for each, in order. */
  readonly verify: (did: string, rows: readonly unknown[], signal: AbortSignal) => Promise<readonly SignatureVerdict[]>;
  readonly refused: RefusedMemory;
  /** Counts rows that repeat known labels after a change of key. */
  readonly repeats: Pick<RepeatMemory, 'find' | 'load'>;
  readonly cap: DailyCap;
  readonly usage: SourceUsage;
  /** Another number once our clock was set or confirmed. */
  readonly clockEra: () => number;
}

/** The way of gaps to the store. */
export interface GapLog {
  /** Records a gap, or takes back what was recorded of one; durable before any later page of its source is. */
  readonly change: (change: GapChange) => Promise<void>;
}

/** The time by which sources are read. */
export interface ReaderTime {
  readonly clock: () => Micros;
  readonly epoch: Micros;
  readonly random: () => number;
  /** Resolves after the time, or at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly rhythm: Rhythm;
}

/** The listeners of what readers meet. */
export interface ReaderReport {
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** A source cannot be read as its document says: the document may have changed. */
  readonly doubt: (did: string) => void;
}

/** The ports of the readers. Each file names the ones that it uses. */
export interface ReaderPorts {
  readonly query: LabelQuery;
  readonly acceptance: Acceptance;
  readonly gaps: GapLog;
  readonly time: ReaderTime;
  /** Bounds how fast each source is read. */
  readonly pace: Pace;
  readonly report: ReaderReport;
}

/** Ports of reading one source, without the way of its rows. */
export type ReadingPorts = Omit<ReaderPorts, 'acceptance'>;

/** Takes an event of a source into account, and writes down the gap that follows from it. */
export async function note(source: Source | Tracker, gaps: GapLog, event: ReadingEvent): Promise<void> {
  const change = source.apply(event);
  if (change) await gaps.change(change);
}

/** Since when a source that was just found has to be filled in: our epoch, or what is not refused as late. */
export function fillTarget(epoch: Micros, now: Micros): Micros {
  return Math.max(epoch, now - maxLateness) as Micros;
}

/** From when on a source is not known to be complete: an outage, what was read to its end, or all of our epoch. */
export function unreadSince(source: Source, epoch: Micros): Micros {
  return source.tracker.unreadSince ?? epoch;
}
