/**
 * Waits from an event to the look-ups of the document that the event announces, in milliseconds: none for the first
 * look-up, then three growing ones. The second one is also the minimum interval between two look-ups of a document.
 */
export type LookupDelays = readonly [first: 0, second: number, third: number, last: number];

/**
 * Waits on the live network. An event often arrives before the document: a directory with replicas or a cache serves
 * the former document, or none, for some time.
 */
export const liveLookupDelays: LookupDelays = [0, 5_000, 30_000, 300_000];
/**
 * Number of look-ups of a document that may precede the average rate: those of two events, because several streams
 * announce the same change within seconds.
 */
const burst = 2 * liveLookupDelays.length;

/** Look-ups of one document; all times in milliseconds. */
interface Lookups {
  eventAt: number;
  /** True if a look-up at the time of the event is not needed. */
  isConfirmation: boolean;
  lookedAt: number;
  /** Time until which the look-ups so far use up the average rate. */
  paidUntil: number;
}

/**
 * Schedules the look-ups of documents after events. Any party can cause events, so the look-ups of one document are
 * limited: eight of them may follow each other, and further ones have an average interval.
 */
export class EventLookups {
  readonly #averageMs: number;
  readonly #delaysMs: LookupDelays;
  readonly #byDid = new Map<string, Lookups>();

  /** `averageMs` is the average interval between look-ups of a document with constant events, in milliseconds. */
  constructor(averageMs: number, delaysMs: LookupDelays) {
    this.#averageMs = averageMs;
    this.#delaysMs = delaysMs;
  }

  /** Must be called when an event announces a change of a document. */
  event(did: string, at: number): void {
    const lookups = this.#of(did);
    lookups.eventAt = at;
    lookups.isConfirmation = false;
  }

  /** Must be called when a look-up that began at this time had a result that may soon change. */
  confirm(did: string, at: number): void {
    this.event(did, at);
    this.#of(did).isConfirmation = true;
  }

  /** Must be called when a look-up that bypasses caches begins. */
  looked(did: string, at: number): void {
    const lookups = this.#of(did);
    lookups.lookedAt = at;
    lookups.paidUntil = Math.max(lookups.paidUntil, at) + this.#averageMs;
  }

  /** Returns the time of the next look-up after the last event, or null if all of them have taken place. */
  next(did: string): number | null {
    const lookups = this.#byDid.get(did);
    if (lookups === undefined) return null;
    const { eventAt, isConfirmation, lookedAt, paidUntil } = lookups;
    const delays = isConfirmation ? this.#delaysMs.slice(1) : this.#delaysMs;
    const planned = delays.map((delay) => eventAt + delay).find((at) => at > lookedAt);
    if (planned === undefined || eventAt === Number.NEGATIVE_INFINITY) return null;
    return Math.max(planned, lookedAt + this.#delaysMs[1], paidUntil - (burst - 1) * this.#averageMs);
  }

  forget(did: string): void {
    this.#byDid.delete(did);
  }

  #of(did: string): Lookups {
    const never = Number.NEGATIVE_INFINITY;
    const unused = { eventAt: never, isConfirmation: false, lookedAt: never, paidUntil: never };
    const lookups = this.#byDid.get(did) ?? unused;
    this.#byDid.set(did, lookups);
    return lookups;
  }
}
