import type { Micros } from '../../contract/timestamp.ts';
import { registrableDomain } from '../../network/guard/registrable-domain.ts';
import { comparePriority, isPrivileged, priorityOf } from '../state/priority.ts';
import { type Member, priorityInput } from './member.ts';

/** New sources of one registrable domain hold at most this share of the places: honest platforms host hundreds. */
const domainShare = 0.1;
/** But no fewer than this, however few places there are. */
const minDomainPlaces = 16;

/** Result of requesting a place. `displaced` lost its place to the requester, and waits now. */
export type Seating = { readonly kind: 'placed'; readonly displaced: Member | null } | { readonly kind: 'waiting' };

interface Holder {
  readonly member: Member;
  readonly domain: string;
}

/**
 * The places of those that are read at once. A seeded or established source never loses its place, and takes that of the
 * youngest new one when none is free; new ones wait for a free place, those of one domain up to its share.
 */
export class Places {
  readonly #max: number;
  readonly #clock: () => Micros;
  readonly #holders = new Map<string, Holder>();
  readonly #byDomain = new Map<string, Set<string>>();
  /** In the order in which they came. */
  readonly #waiting = new Map<string, Holder>();

  constructor(max: number, clock: () => Micros) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Asks for a place for the source at this endpoint; one that it holds already is kept. */
  take(member: Member, endpoint: string): Seating {
    const { did } = member;
    this.#waiting.delete(did);
    const domain = domainOf(endpoint);
    if (this.#holders.has(did)) {
      this.#leave(did);
      this.#sit(member, domain);
      return { kind: 'placed', displaced: null };
    }
    const displaced = this.#holders.size < this.#max ? null : this.#youngestNew(member);
    const free = this.#holders.size < this.#max || displaced !== null;
    if (!free || (this.#isNew(member) && !this.#hasRoom(domain))) {
      this.#waiting.set(did, { member, domain });
      return { kind: 'waiting' };
    }
    if (displaced !== null) {
      const domainLeft = this.#leave(displaced.did);
      this.#waiting.set(displaced.did, { member: displaced, domain: domainLeft ?? domain });
    }
    this.#sit(member, domain);
    return { kind: 'placed', displaced };
  }

  /** Gives up the place of a source, or its wait for one. */
  release(did: string): void {
    this.#waiting.delete(did);
    this.#leave(did);
  }

  /** The source that is to have the place that is free; null where none is, or none that waits may have it. */
  next(): Member | null {
    if (this.#holders.size >= this.#max) return null;
    const now = this.#clock();
    let best: Member | null = null;
    const full = new Map<string, boolean>();
    for (const { member, domain } of this.#waiting.values()) {
      const isFull = full.get(domain) ?? !this.#hasRoom(domain);
      full.set(domain, isFull);
      if (isFull && this.#isNew(member)) continue;
      if (best === null || comparePriority(priorityInput(member), priorityInput(best), now) < 0) best = member;
    }
    return best;
  }

  waits(did: string): boolean {
    return this.#waiting.has(did);
  }

  /**
   * Selects the source that gives way to a privileged one: of the new sources that never responded, or responded last,
   * the one placed last.
   */
  #youngestNew(member: Member): Member | null {
    if (this.#isNew(member)) return null;
    const now = this.#clock();
    let last: Member | null = null;
    for (const { member: holder } of this.#holders.values()) {
      if (!this.#isNew(holder)) continue;
      if (last === null || comparePriority(priorityInput(holder), priorityInput(last), now) >= 0) last = holder;
    }
    return last;
  }

  #isNew(member: Member): boolean {
    return !isPrivileged(priorityOf(priorityInput(member), this.#clock()));
  }

  /** Returns true if a domain may have another new source. */
  #hasRoom(domain: string): boolean {
    const share = Math.max(minDomainPlaces, Math.floor(this.#max * domainShare));
    const dids = this.#byDomain.get(domain);
    if (dids === undefined || dids.size < share) return true;
    let count = 0;
    for (const did of dids) {
      const holder = this.#holders.get(did);
      if (holder && this.#isNew(holder.member)) count += 1;
    }
    return count < share;
  }

  #sit(member: Member, domain: string): void {
    this.#holders.set(member.did, { member, domain });
    const dids = this.#byDomain.get(domain) ?? new Set();
    dids.add(member.did);
    this.#byDomain.set(domain, dids);
  }

  /** Gives the domain that the source had its place under; null where it had none. */
  #leave(did: string): string | null {
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
