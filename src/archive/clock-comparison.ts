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
  /** Time of the first expired response since the last comparison, and its first `Date` by path; null without one. */
  #doubt: { readonly since: number; readonly first: Map<string, Sighting> } | null = null;

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
    if (this.#doubt === null || at < this.#doubt.since) this.#doubt = { since: at, first: new Map() };
    const { first } = this.#doubt;
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
