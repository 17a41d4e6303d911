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

/** State of a source besides its position; survives a restart. */
export interface TrackedState {
  readonly state: SourceState;
  readonly stateSince: Micros;
  /** Time of the first attempt to read it; null before. */
  readonly firstAsked: Micros | null;
  /** Our clock at its first accepted page; null when it never answered. */
  readonly firstAnswered: Micros | null;
  /** Our clock at its last accepted page; null when it never answered. */
  readonly lastAnswered: Micros | null;
  /** Since when every try has failed, restarts of ours included; null where the last one did not. */
  readonly failingSince: Micros | null;
  /** Up to when all that it gave is stored, or recorded as a gap; null before it answered. */
  readonly completeThrough: Micros | null;
  /** True if any of its labels had a usable date. */
  readonly dated: boolean;
  /** True if it sent labels and none of them had a usable date. */
  readonly undated: boolean;
}

/** Failure of reading a source. */
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
  /** Start of an outage that is not yet filled in. */
  #behindSince: Micros | null = null;
  /**
   * Time at which any of its missed labels was last accepted; null while it does not respond, and while nothing is
   * missed.
   */
  #readAt: Micros | null = null;
  /** As it was before the first try; null once a try was made, or where none has begun. */
  #untried: TrackedState | null = null;
  /** True if all its labels arrive live: everything earlier was read to its end since the last attempt began. */
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

  /** True if attempts are failing now, even briefly: at least a delay. */
  get delayed(): boolean {
    return this.#failing !== null;
  }

  /** Since when it is not known to be complete; null when it never answered. */
  get unreadSince(): Micros | null {
    return this.#behindSince ?? this.#tracked.completeThrough;
  }

  /** True if everything before its next live frame is stored, or recorded as a gap. */
  get whole(): boolean {
    return this.#whole;
  }

  /** True if an outage was more than a delay and is not yet filled in. */
  get behind(): boolean {
    return this.#behindSince !== null;
  }

  /**
   * Time at which labels missed in an outage were last accepted, or at which it first responded again; null if nothing
   * is missed.
   */
  get readAt(): Micros | null {
    return this.#behindSince === null ? null : this.#readAt;
  }

  /**
   * Returns true if it is enrolled at `now`: it has responded, or is still on trial. A source that has been
   * unreachable for 7 days leaves; this run must have tried it, because time during which we did not run proves
   * nothing.
   */
  enrolled(now: Micros): boolean {
    const { lastAnswered, firstAsked, failingSince } = this.#tracked;
    if (lastAnswered === null) return firstAsked === null || now - firstAsked < trialPeriod;
    return this.#failing === null || failingSince === null || now - failingSince < unreachableAfter;
  }

  /** Records the start of an attempt to read it: labels from before are unread. */
  asked(now: Micros): void {
    this.#whole = false;
    if (this.#tracked.firstAsked === null) this.#untried = this.#tracked;
    this.#apply('asked', now);
    this.#tracked = { ...this.#tracked, firstAsked: this.#tracked.firstAsked ?? now };
  }

  /** Our own limits kept us from the try that began: a trial does not begin with it. */
  notAsked(): void {
    if (this.#untried !== null) this.#tracked = this.#untried;
  }

  /** A page was accepted, with so many labels of a usable date and without; `live` where it came by stream. */
  answered(
    now: Micros,
    labels: { readonly dated: number; readonly undated: number; readonly live?: boolean },
  ): StoredGap | null {
    const gap = this.#outage(now);
    this.#failing = null;
    this.#untried = null;
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

  /** Records that rows accepted at `now` include new ones. */
  gaveNew(now: Micros): void {
    if (this.#behindSince !== null) this.#readAt = now;
  }

  /**
   * Records that everything since the last position was read, back to `reached`. Returns the gap to withdraw: an
   * outage that was filled in was a delay, except for the time before `reached`.
   */
  caughtUp(reached: Micros, now: Micros): StoredGap | null {
    const since = this.#behindSince;
    this.#behindSince = null;
    this.#whole = true;
    this.completeTo(now);
    if (since === null || now <= reached) return null;
    return { source: this.did, start: micros(Math.max(since, reached)), end: now, reason: 'source_unavailable' };
  }

  /** Records that the time since then is being filled in. */
  fellBehind(since: Micros): void {
    this.#whole = false;
    // Where it was behind already, what was taken so far still counts.
    if (this.#behindSince === null) this.#readAt = null;
    this.#behindSince = since;
  }

  /** Records that the time until then cannot be filled in and stays a gap; later labels arrive live. */
  gaveUp(through: Micros): void {
    this.#behindSince = null;
    this.#whole = true;
    this.completeTo(through);
  }

  /** A try failed. While it lasts beyond the delay limit the gap grows with every try. */
  failed(now: Micros, fault: Fault): StoredGap | null {
    const { since = now, tries = 0 } = this.#failing ?? {};
    this.#untried = null;
    this.#failing = { since, tries: tries + 1 };
    this.#tracked = { ...this.#tracked, failingSince: this.#tracked.failingSince ?? now };
    this.#whole = false;
    const long = now - since > delayLimit && tries + 1 >= leastTries;
    this.#apply(fault === 'failed' && long ? 'failed_long' : fault, now);
    return this.#outage(now);
  }

  /** The labeler is enrolled again: what it published while it was not is missing until it is filled in. */
  returned(now: Micros): void {
    if (this.#tracked.lastAnswered !== null) this.#failing ??= { since: now, tries: 0 };
  }

  moved(now: Micros): void {
    this.#failing = null;
    this.#tracked = { ...this.#tracked, failingSince: null };
    this.#apply('moved', now);
  }

  restarted(now: Micros): void {
    this.#apply('restarted', now);
  }

  /**
   * Returns the unobserved time up to now if it is more than a delay; only an observation that had started can be
   * interrupted.
   */
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
