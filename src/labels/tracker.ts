import type { Micros } from '../contract/timestamp.ts';
import type { StoredGap } from '../store/port.ts';
import { hour, micros, minute } from '../store/time.ts';
import { type SourceEvent, type SourceState, transition } from './source-state.ts';
import { unreachableAfter } from './standing.ts';

/** Resumed at its position within this time, a source was only delayed: 15 minutes. */
export const delayLimit = 15 * minute;
/** Failing for that long, with at least this many tries, a source is unavailable. */
const leastTries = 3;
/** A source that never answered is enrolled for this long: 24 h. */
export const trialPeriod = 24 * hour;

/** What is known of a source besides its position; survives a restart. */
export interface TrackedState {
  readonly state: SourceState;
  readonly stateSince: Micros;
  /** When it was first asked; null before. */
  readonly firstAsked: Micros | null;
  /** Our clock at its first accepted page; null when it never answered. */
  readonly firstAnswered: Micros | null;
  /** Our clock at its last accepted page; null when it never answered. */
  readonly lastAnswered: Micros | null;
  /** Since when every try has failed, restarts of ours included; null where the last one did not. */
  readonly failingSince: Micros | null;
  /** Up to when all that it gave is stored, or recorded as a gap; null before it answered. */
  readonly completeThrough: Micros | null;
  /** Whether any label of it bore a usable date. */
  readonly dated: boolean;
  /** Whether it gave labels and none of them was dated. */
  readonly undated: boolean;
}

/** How reading a source failed. */
export type Fault = 'refusing' | 'rejecting' | 'failed' | 'order_unverified';

/** A source that was never asked. */
export function untracked(at: Micros): TrackedState {
  const never = {
    ...{ firstAsked: null, firstAnswered: null, lastAnswered: null },
    ...{ failingSince: null, completeThrough: null },
  };
  return { state: 'unstarted', stateSince: at, ...never, dated: false, undated: false };
}

/** Follows the state of one source. Every method gives the gap that is to be recorded now, or null. */
export class Tracker {
  readonly did: string;
  #tracked: TrackedState;
  #failing: { readonly since: Micros; readonly tries: number } | null = null;
  /** Since when nobody knows what it gave, because of an outage that was not yet filled in. */
  #behindSince: Micros | null = null;
  /** When anything of what it missed was last taken; null while it does not answer, and while nothing is missed. */
  #readAt: Micros | null = null;
  /** Whether all that it gives comes as it is made: what lay before was read to its end since the last try began. */
  #whole = false;

  constructor(did: string, tracked: TrackedState) {
    this.did = did;
    this.#tracked = tracked;
  }

  get tracked(): TrackedState {
    return this.#tracked;
  }

  get state(): SourceState {
    return this.#tracked.state;
  }

  /** Whether tries fail now, however short: a delay at least. */
  get delayed(): boolean {
    return this.#failing !== null;
  }

  /** Since when it is not known to be complete; null when it never answered. */
  get unreadSince(): Micros | null {
    return this.#behindSince ?? this.#tracked.completeThrough;
  }

  /** Whether what lies before its next live frame is stored, or recorded as a gap. */
  get whole(): boolean {
    return this.#whole;
  }

  /** Whether an outage was more than a delay, and not yet filled in. */
  get behind(): boolean {
    return this.#behindSince !== null;
  }

  /** When anything of what an outage left out was last taken, or it first answered again; null where it is not behind. */
  get readAt(): Micros | null {
    return this.#behindSince === null ? null : this.#readAt;
  }

  /**
   * Whether it is enrolled at `now`: it has answered, or is still on trial. A source that has been unreachable for 7 days
   * leaves; this run must have tried it, as time during which we did not run proves nothing.
   */
  enrolled(now: Micros): boolean {
    const { lastAnswered, firstAsked, failingSince } = this.#tracked;
    if (lastAnswered === null) return firstAsked === null || now - firstAsked < trialPeriod;
    return this.#failing === null || failingSince === null || now - failingSince < unreachableAfter;
  }

  /** A try to read it begins: nobody knows what it gave meanwhile. */
  asked(now: Micros): void {
    this.#whole = false;
    this.#apply('asked', now);
    this.#tracked = { ...this.#tracked, firstAsked: this.#tracked.firstAsked ?? now };
  }

  /** A page was accepted, with so many labels of a usable date and without; `live` where it came by stream. */
  answered(
    now: Micros,
    labels: { readonly dated: number; readonly undated: number; readonly live?: boolean },
  ): StoredGap | null {
    const gap = this.#outage(now);
    this.#failing = null;
    const dated = this.#tracked.dated || labels.dated > 0;
    const undated = this.#tracked.undated || labels.undated > 0;
    this.#apply(undated && !dated ? 'only_undated' : 'answered', now);
    const firstAnswered = this.#tracked.firstAnswered ?? now;
    this.#tracked = { ...this.#tracked, dated, undated, firstAnswered, lastAnswered: now, failingSince: null };
    if (this.#whole && labels.live) this.completeTo(now);
    this.#readAt = this.#behindSince === null ? null : (this.#readAt ?? now);
    return gap;
  }

  /** All that it gave until then is stored, or recorded as a gap. */
  completeTo(at: Micros): void {
    const completeThrough = micros(Math.max(this.#tracked.completeThrough ?? at, at));
    this.#tracked = { ...this.#tracked, completeThrough };
  }

  /** What was accepted at `now` held rows that were not known before. */
  gaveNew(now: Micros): void {
    if (this.#behindSince !== null) this.#readAt = now;
  }

  /**
   * All that it had was read from where it was read before, back to `reached`. Gives the gap that is none after all: an
   * outage that was filled in was a delay, but for what lies before `reached`.
   */
  caughtUp(reached: Micros, now: Micros): StoredGap | null {
    const since = this.#behindSince;
    this.#behindSince = null;
    this.#whole = true;
    this.completeTo(now);
    if (since === null || now <= reached) return null;
    return { source: this.did, start: micros(Math.max(since, reached)), end: now, reason: 'source_unavailable' };
  }

  /** What came since then is being filled in. */
  fellBehind(since: Micros): void {
    this.#whole = false;
    // Where it was behind already, what was taken so far still counts.
    if (this.#behindSince === null) this.#readAt = null;
    this.#behindSince = since;
  }

  /** What it left out until then cannot be filled in, its gap stays; what it gives since then comes. */
  gaveUp(through: Micros): void {
    this.#behindSince = null;
    this.#whole = true;
    this.completeTo(through);
  }

  /** A try failed. While it lasts beyond the delay limit the gap grows with every try. */
  failed(now: Micros, fault: Fault): StoredGap | null {
    const { since = now, tries = 0 } = this.#failing ?? {};
    this.#failing = { since, tries: tries + 1 };
    this.#tracked = { ...this.#tracked, failingSince: this.#tracked.failingSince ?? now };
    this.#whole = false;
    const long = now - since > delayLimit && tries + 1 >= leastTries;
    this.#apply(fault === 'failed' && long ? 'failed_long' : fault, now);
    return this.#outage(now);
  }

  moved(now: Micros): void {
    this.#failing = null;
    this.#tracked = { ...this.#tracked, failingSince: null };
    this.#apply('moved', now);
  }

  restarted(now: Micros): void {
    this.#apply('restarted', now);
  }

  /** What was not observed up to now, when it is more than a delay; only what was once observed can be interrupted. */
  #outage(now: Micros): StoredGap | null {
    const { lastAnswered } = this.#tracked;
    const heard = this.#behindSince ?? lastAnswered;
    const since = this.unreadSince ?? lastAnswered;
    if (this.#failing === null || heard === null || since === null || now - heard <= delayLimit) return null;
    if (this.#behindSince === null) this.#readAt = null;
    this.#behindSince = since;
    return { source: this.did, start: since, end: now, reason: 'source_unavailable' };
  }

  #apply(event: SourceEvent, now: Micros): void {
    const state = transition(this.#tracked.state, event);
    if (state !== this.#tracked.state) this.#tracked = { ...this.#tracked, state, stateSince: now };
  }
}
