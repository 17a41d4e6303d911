import type { Micros } from '../../contract/timestamp.ts';
import { registrableDomain } from '../../network/guard/host-rates.ts';
import { type KnownLabeler, priorityInput } from '../roster/known-labeler.ts';
import { comparePriority, isPrivileged, priorityOf } from '../state/reading-state.ts';

/**
 * Maximum share of the reading slots for new sources of one registrable domain. Honest platforms host hundreds of
 * labelers.
 */
const domainShare = 0.1;
/** Minimum number of reading slots for new sources of one domain, regardless of `domainShare`. */
const minDomainSlots = 16;

/**
 * Result of requesting a reading slot. `displaced` is the labeler that lost its slot to the requester and now waits.
 */
type SlotOutcome = { readonly kind: 'granted'; readonly displaced: KnownLabeler | null } | { readonly kind: 'waiting' };

interface Holder {
  readonly labeler: KnownLabeler;
  readonly domain: string;
}

/**
 * Reading slots for the sources that are read concurrently. A privileged source never loses its slot, and takes the
 * slot of the newest new source if no slot is free. New sources wait for a free slot, within the share of their domain.
 */
export class ReadingSlots {
  readonly #max: number;
  readonly #clock: () => Micros;
  readonly #holders = new Map<string, Holder>();
  readonly #byDomain = new Map<string, Set<string>>();
  /** Waiting sources, in the order of their requests. */
  readonly #waiting = new Map<string, Holder>();

  constructor(max: number, clock: () => Micros) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Requests a reading slot for a source at this endpoint; a source that already has a slot keeps it. */
  take(labeler: KnownLabeler, endpoint: string): SlotOutcome {
    const { did } = labeler;
    this.#waiting.delete(did);
    const domain = domainOf(endpoint);
    if (this.#holders.has(did)) {
      this.#vacate(did);
      this.#assign(labeler, domain);
      return { kind: 'granted', displaced: null };
    }
    const displaced = this.#holders.size < this.#max ? null : this.#youngestNew(labeler);
    const free = this.#holders.size < this.#max || displaced !== null;
    if (!free || (this.#isNew(labeler) && !this.#hasRoom(domain))) {
      this.#waiting.set(did, { labeler, domain });
      return { kind: 'waiting' };
    }
    if (displaced !== null) {
      const domainLeft = this.#vacate(displaced.did);
      this.#waiting.set(displaced.did, { labeler: displaced, domain: domainLeft ?? domain });
    }
    this.#assign(labeler, domain);
    return { kind: 'granted', displaced };
  }

  /** Releases the slot of a source, or ends its wait for a slot. */
  release(did: string): void {
    this.#waiting.delete(did);
    this.#vacate(did);
  }

  /** Returns the source that gets the next free slot, or null if no slot is free, or no waiting source may have it. */
  next(): KnownLabeler | null {
    if (this.#holders.size >= this.#max) return null;
    const now = this.#clock();
    let best: KnownLabeler | null = null;
    const full = new Map<string, boolean>();
    for (const { labeler, domain } of this.#waiting.values()) {
      const isFull = full.get(domain) ?? !this.#hasRoom(domain);
      full.set(domain, isFull);
      if (isFull && this.#isNew(labeler)) continue;
      if (best === null || comparePriority(priorityInput(labeler), priorityInput(best), now) < 0) best = labeler;
    }
    return best;
  }

  waits(did: string): boolean {
    return this.#waiting.has(did);
  }

  /**
   * Returns the new source that loses its slot to a privileged one. Prefers sources that never responded, then sources
   * with the latest first response, and among equal sources the one that got its slot last.
   */
  #youngestNew(labeler: KnownLabeler): KnownLabeler | null {
    if (this.#isNew(labeler)) return null;
    const now = this.#clock();
    let last: KnownLabeler | null = null;
    for (const { labeler: holder } of this.#holders.values()) {
      if (!this.#isNew(holder)) continue;
      if (last === null || comparePriority(priorityInput(holder), priorityInput(last), now) >= 0) last = holder;
    }
    return last;
  }

  #isNew(labeler: KnownLabeler): boolean {
    return !isPrivileged(priorityOf(priorityInput(labeler), this.#clock()));
  }

  /** Returns true if a domain may have a slot for another new source. */
  #hasRoom(domain: string): boolean {
    const share = Math.max(minDomainSlots, Math.floor(this.#max * domainShare));
    const dids = this.#byDomain.get(domain);
    if (dids === undefined || dids.size < share) return true;
    let count = 0;
    for (const did of dids) {
      const holder = this.#holders.get(did);
      if (holder && this.#isNew(holder.labeler)) count += 1;
    }
    return count < share;
  }

  #assign(labeler: KnownLabeler, domain: string): void {
    this.#holders.set(labeler.did, { labeler, domain });
    const dids = this.#byDomain.get(domain) ?? new Set();
    dids.add(labeler.did);
    this.#byDomain.set(domain, dids);
  }

  /** Releases a slot. Returns the domain whose share included the slot, or null if the source had no slot. */
  #vacate(did: string): string | null {
    const holder = this.#holders.get(did);
    if (!holder) return null;
    this.#holders.delete(did);
    const dids = this.#byDomain.get(holder.domain);
    dids?.delete(did);
    if (dids?.size === 0) this.#byDomain.delete(holder.domain);
    return holder.domain;
  }
}

function domainOf(endpoint: string): string {
  return registrableDomain(new URL(endpoint).host);
}
