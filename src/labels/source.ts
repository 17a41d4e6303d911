import type { Micros } from '../contract/timestamp.ts';
import type { AddressPolicy } from '../network/address-policy.ts';
import type { HttpClient } from '../network/http.ts';
import type { Log } from '../ops/log.ts';
import type { ReceivedLabel, SignatureVerdict } from '../store/label.ts';
import type { StoredGap } from '../store/port.ts';
import { hour } from '../store/time.ts';
import type { AcceptedPage } from './acceptance.ts';
import { maxLateness } from './admission.ts';
import type { RefusedMemory } from './fingerprint.ts';
import type { ReadPosition } from './position.ts';
import type { Rhythm } from './rhythm.ts';
import type { Telemetry } from './telemetry.ts';
import type { Tracker } from './tracker.ts';

/** What every reader works with. */
export interface ReaderTools {
  readonly http: HttpClient;
  readonly policy: AddressPolicy;
  /** Hands a page to the writer; resolves once it is durable, rejects when we stop. */
  readonly accept: (page: AcceptedPage) => Promise<void>;
  /** Records a gap durably. */
  readonly recordGap: (gap: StoredGap) => Promise<void>;
  /** Judges signatures; one verdict for each label, in order. */
  readonly verify: (
    did: string,
    labels: readonly ReceivedLabel[],
    signal: AbortSignal,
  ) => Promise<readonly SignatureVerdict[]>;
  /** What an upstream says the time is, in milliseconds. */
  readonly heardTime: (milliseconds: number) => void;
  readonly refused: RefusedMemory;
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
  readonly tracker: Tracker;
  /** As committed. Only intake moves it. */
  position: ReadPosition;
}

/** Since when a source that was just found has to be filled in: our epoch, or what is not refused as late. */
export function fillTarget(epoch: Micros, now: Micros): Micros {
  return Math.max(epoch, now - maxLateness) as Micros;
}

/** From when on a source is not known to be complete: its last accepted page, or all of our epoch. */
export function unreadSince(source: Source, epoch: Micros): Micros {
  return source.tracker.tracked.lastAnswered ?? epoch;
}

/** How many labels of a source are stored within a day at most, and the span that is counted. */
export const dailyRows = { most: 2_000_000, span: 24 * hour } as const;
