import { hourOf } from './days/calendar.ts';

/** Maximum difference between this clock and the facts API's clock at which a response is archived, in milliseconds. */
export const maxClockDifferenceMs = 600_000;
/** Minimum time for which a `Date` must advance as this clock does before it proves a difference, in milliseconds. */
const proofMs = 180_000;
/** Maximum difference between the advances of a `Date` and of this clock, in milliseconds: caches repeat a `Date`. */
const toleranceMs = 60_000;
/** Maximum time for which expired responses leave the clocks in doubt, in milliseconds. */
const maxDoubtMs = 600_000;

/** `Date` of a response, and the time of its request on this clock, both in milliseconds since 1970. */
interface Sighting {
  readonly at: number;
  readonly date: number;
}

/** Times of the first and of the last expired response, and the first sighting by path. */
interface Doubt {
  readonly since: number;
  readonly last: number;
  readonly first: Map<string, Sighting>;
}

/**
 * Compares this machine's clock with the facts API's clock: with a wrong clock, a line would state a false time, and a
 * day could be closed too early, and could not be reopened.
 *
 * If this clock is ahead, every response looks expired. The `Date` of an expired response may be the one that a cache has
 * stored with it. The clocks are therefore in doubt until the `Date` of a fact has advanced as this clock has, for longer
 * than caches repeat a response.
 */
export class ClockComparison {
  /** Hour of the last comparison; empty if the clocks differed. */
  #confirmedHour = '';
  #isDifferent = false;
  /** Doubt since the last comparison; null without an expired response. */
  #doubt: Doubt | null = null;

  /** Returns true if the clocks differed at their last comparison. */
  isDifferent(): boolean {
    return this.#isDifferent;
  }

  /** Returns true if the clocks agreed in the hour that contains `now`. */
  isConfirmed(now: number): boolean {
    return this.#confirmedHour === hourOf(now);
  }

  /** Returns true while expired responses may mean that this clock is ahead. */
  isInDoubt(now: number): boolean {
    return this.#doubt !== null && Math.abs(now - this.#doubt.since) < maxDoubtMs;
  }

  /** Compares the time `at` of a request with the `Date` of its response. */
  compare({ at, date }: Sighting): void {
    this.#isDifferent = !isClose(at, date);
    this.#confirmedHour = this.#isDifferent ? '' : hourOf(at);
    this.#doubt = null;
  }

  /** Compares the time `at` of a request for `path` with the `Date` of its response, which looks expired. */
  compareExpired(path: string, { at, date }: Sighting): void {
    if (this.#isDifferent || this.isConfirmed(at) || isClose(at, date)) return;
    const doubt = this.#doubt;
    // Requests that fail are repeated every minute, so after a longer pause this clock may have been set ahead.
    const isNew = doubt === null || at < doubt.since || at - doubt.last > maxDoubtMs;
    const { since, first } = isNew ? { since: at, first: new Map<string, Sighting>() } : doubt;
    this.#doubt = { since, last: at, first };
    const known = first.get(path) ?? { at, date };
    const passedMs = at - known.at;
    const fits = Math.abs(date - known.date - passedMs) <= toleranceMs;
    // Keep a `Date` that is repeated: its next change shows whether the service's clock runs.
    first.set(path, fits || date === known.date ? known : { at, date });
    if (fits && passedMs >= proofMs) this.compare({ at, date });
  }
}

function isClose(at: number, date: number): boolean {
  return Math.abs(at - date) <= maxClockDifferenceMs;
}
