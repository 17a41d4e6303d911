import type { Micros } from '../contract/timestamp.ts';
import type { HttpClient, Peer } from '../network/http.ts';
import type { Slots } from '../network/slots.ts';
import type { Log } from '../ops/log.ts';
import type { SignatureVerdict } from '../store/label.ts';
import type { StoredGap } from '../store/port.ts';
import type { AcceptedPage } from './acceptance.ts';
import { maxLateness } from './admission.ts';
import type { DailyCap } from './daily-cap.ts';
import type { InputMemory } from './input-memory.ts';
import type { OpenStream } from './open-stream.ts';
import type { Pace } from './pace.ts';
import type { ReadPosition } from './position.ts';
import type { RefusedMemory } from './refused-memory.ts';
import type { Rhythm } from './rhythm.ts';
import type { SourceUsage } from './source-usage.ts';
import type { Telemetry } from './telemetry.ts';
import type { Tracker } from './tracker.ts';

/** Dependencies of every reader. */
export interface ReaderTools {
  readonly http: HttpClient;
  /** Opens streams of labelers, few at a time. */
  readonly openStream: OpenStream;
  /** Hands a page to the writer; resolves once it is durable, with how many rows were new; rejects when we stop. */
  readonly accept: (page: AcceptedPage) => Promise<number>;
  /** Records a gap, which is durable before any later page of its source is. */
  readonly recordGap: (gap: StoredGap) => Promise<void>;
  /** Takes back what was recorded of a gap: it was filled in after all. */
  readonly withdrawGap: (gap: StoredGap) => Promise<void>;
  /** Judges the signatures of rows as they came; one verdict for each, in order. */
  readonly verify: (did: string, rows: readonly unknown[], signal: AbortSignal) => Promise<readonly SignatureVerdict[]>;
  /** A source cannot be read as its document says: the document may have changed. */
  readonly doubt: (did: string) => void;
  /** Records the time that an upstream reports, in milliseconds. */
  readonly heardTime: (milliseconds: number) => void;
  /** Memory for what sources gave and is not yet stored, shared between them. */
  readonly memory: InputMemory;
  /** Connections to streams, bounded by host and registrable domain: many labelers may share one. */
  readonly streams: Slots;
  readonly refused: RefusedMemory;
  readonly cap: DailyCap;
  /** Bounds how fast each source is read. */
  readonly pace: Pace;
  readonly usage: SourceUsage;
  /** Another number once our clock was set or confirmed. */
  readonly clockEra: () => number;
  readonly epoch: Micros;
  readonly clock: () => Micros;
  readonly random: () => number;
  /** Resolves after the time, or at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly rhythm: Rhythm;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** A source while it is read: who it is, what is known of it, and where reading goes on. */
export interface Source {
  readonly did: string;
  readonly endpoint: string;
  /** On whose behalf its host is asked, and whether reserved slots may serve it just now. */
  readonly peer: Peer;
  readonly tracker: Tracker;
  /** Only intake moves it: to what is committed, or back. */
  position: ReadPosition;
  /** Cursor of the next stream connection, if it must replay earlier frames; null to resume from the last one. */
  replayFrom: number | null;
  /** Rows of the last page that gave no position: it is read again, and its rows are known then. */
  unplaced: ReadonlySet<string>;
  /** Rows of the last page, by the first digits of their fingerprints: pages without an order overlap. Null before the first. */
  lastPage: ReadonlySet<number> | null;
  /** Looks for the last row that missed it, one after the other, and when the last of them was. */
  missedLooks: { readonly count: number; readonly at: Micros } | null;
  /** The last rows of the stream's newest frames without a hole between them, by their numbers. */
  readonly seen: Map<number, string>;
  /** The stream's newest frame that is committed, of the last connection; null where there is none. */
  live: { readonly seq: number; readonly tail: string | null } | null;
  /**
   * True if everything before the stream's frames is stored, or a gap: until then no frame number is a resume
   * position.
   */
  contiguous: boolean;
}

/** Frames whose numbers are remembered. */
const mostSeen = 512;

/** Remembers a frame's last row. */
export function remember({ seen }: Source, seq: number, tail: string): void {
  seen.set(seq, tail);
  const [oldest] = seen.keys();
  if (seen.size > mostSeen && oldest !== undefined) seen.delete(oldest);
}

/** Since when a source that was just found has to be filled in: our epoch, or what is not refused as late. */
export function fillTarget(epoch: Micros, now: Micros): Micros {
  return Math.max(epoch, now - maxLateness) as Micros;
}

/** From when on a source is not known to be complete: an outage, what was read to its end, or all of our epoch. */
export function unreadSince(source: Source, epoch: Micros): Micros {
  return source.tracker.unreadSince ?? epoch;
}
