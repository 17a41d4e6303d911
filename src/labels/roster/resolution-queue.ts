import { registrableDomain } from '../../network/guard/host-rates.ts';

/** A document that is to be resolved. */
export interface DueResolution {
  readonly did: string;
  /** True if the document must be requested without the cache. */
  readonly fresh: boolean;
  readonly privileged: boolean;
}

/** Queue of documents of one kind. Limits concurrent resolutions in total and, for did:web, per registrable domain. */
interface Lane {
  readonly atOnce: number;
  readonly perDomain: number;
  readonly due: Map<string, Entry>;
}

interface Entry {
  /** Due time, in milliseconds. */
  readonly at: number;
  readonly fresh: boolean;
  /** Registrable domain of a did:web; empty for other DIDs. */
  readonly domain: string;
}

/**
 * Schedules the resolution of DID documents. The did:plc directory and the did:web hosts have separate queues, each
 * with a privileged part, so that neither hanging hosts nor many DIDs delay a privileged labeler's new key.
 */
export class ResolutionQueue {
  readonly #lanes = {
    plc: { privileged: createLane(8), other: createLane(16) },
    web: { privileged: createLane(8, 4), other: createLane(16, 2) },
  };
  /** Resolutions in progress, with their queue and domain. */
  readonly #underWay = new Map<string, { readonly lane: Lane; readonly domain: string }>();
  readonly #maxWaitMs: number;

  /**
   * A document is queued at most `maxWaitMs` milliseconds ahead. If it is due later than that, the clock was ahead when
   * it was queued, and it is due now.
   */
  constructor(maxWaitMs = Number.POSITIVE_INFINITY) {
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Returns the due time of a DID's document, in milliseconds, and whether the document must be requested without the
   * cache. Returns null if the DID is not queued.
   */
  get(did: string): { readonly at: number; readonly fresh: boolean } | null {
    const { privileged, other } = this.#lanesOf(did);
    return privileged.due.get(did) ?? other.due.get(did) ?? null;
  }

  /** Queues a document, or changes when it is due. */
  set(did: string, at: number, { fresh, privileged }: { readonly fresh: boolean; readonly privileged: boolean }): void {
    const lanes = this.#lanesOf(did);
    const [lane, other] = privileged ? [lanes.privileged, lanes.other] : [lanes.other, lanes.privileged];
    other.due.delete(did);
    lane.due.set(did, { at, fresh, domain: domainOf(did) });
  }

  delete(did: string): void {
    const { privileged, other } = this.#lanesOf(did);
    privileged.due.delete(did);
    other.due.delete(did);
  }

  /** Returns the documents that are due and may be resolved now. Each of them is in progress until `done` is called. */
  take(now: number): DueResolution[] {
    const taken: DueResolution[] = [];
    for (const { privileged, other } of [this.#lanes.plc, this.#lanes.web]) {
      this.#takeFrom(privileged, now, (did, fresh) => taken.push({ did, fresh, privileged: true }));
      this.#takeFrom(other, now, (did, fresh) => taken.push({ did, fresh, privileged: false }));
    }
    return taken;
  }

  done(did: string): void {
    this.#underWay.delete(did);
  }

  #takeFrom(lane: Lane, now: number, onTaken: (did: string, fresh: boolean) => void): void {
    const same = [...this.#underWay.values()].filter((one) => one.lane === lane);
    let free = lane.atOnce - same.length;
    const ofDomain = new Map<string, number>();
    for (const { domain } of same) ofDomain.set(domain, (ofDomain.get(domain) ?? 0) + 1);
    for (const [did, { at, fresh, domain }] of lane.due) {
      if (free <= 0) return;
      const count = ofDomain.get(domain) ?? 0;
      const isLater = at > now && at <= now + this.#maxWaitMs;
      if (isLater || this.#underWay.has(did) || count >= lane.perDomain) continue;
      lane.due.delete(did);
      this.#underWay.set(did, { lane, domain });
      ofDomain.set(domain, count + 1);
      free -= 1;
      onTaken(did, fresh);
    }
  }

  #lanesOf(did: string): { readonly privileged: Lane; readonly other: Lane } {
    return isWeb(did) ? this.#lanes.web : this.#lanes.plc;
  }
}

function createLane(atOnce: number, perDomain = atOnce): Lane {
  return { atOnce, perDomain, due: new Map() };
}

/** Returns true if a document comes from a host that the DID itself names. */
function isWeb(did: string): boolean {
  return did.startsWith('did:web:');
}

/** Returns the registrable domain of a did:web; the result is empty for other DIDs. */
export function domainOf(did: string): string {
  return isWeb(did) ? registrableDomain(did.slice('did:web:'.length).replace(/%3A/i, ':')) : '';
}

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
    // A look-up after the event was timed by a clock that was ahead, and says nothing about the time since then.
    if (lookups.lookedAt > at) Object.assign(lookups, { lookedAt: Number.NEGATIVE_INFINITY, paidUntil: at });
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
