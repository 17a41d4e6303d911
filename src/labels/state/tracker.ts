import type { Micros } from '../../contract/timestamp.ts';
import type { LabelerProblem } from '../../contract/vocabulary.ts';
import type { GapChange } from '../../store/port.ts';
import type { ReadingEvent } from './reading-events.ts';
import { isEnrolledAt, type ReadingState, readingOf, type TrackedState, unreadSince } from './reading-state.ts';
import { step } from './step.ts';

/** Owner of the reading state of one source, which only `apply` changes. */
export class Tracker {
  readonly did: string;
  #reading: ReadingState;

  constructor(did: string, tracked: TrackedState) {
    this.did = did;
    this.#reading = readingOf(tracked);
  }

  /** Applies an event. Returns the gap that must be recorded or withdrawn, or null. */
  apply(event: ReadingEvent): GapChange | null {
    const [reading, change] = step(this.did, this.#reading, event);
    this.#reading = reading;
    return change;
  }

  /** Reading state of the source, as an immutable value. */
  get reading(): ReadingState {
    return this.#reading;
  }

  get tracked(): TrackedState {
    return this.#reading.tracked;
  }

  get state(): TrackedState['state'] {
    return this.#reading.tracked.state;
  }

  /**
   * True if attempts currently fail, even if only for a short time, or if a labeler that returned, or was allowed
   * again, has not responded yet.
   */
  get delayed(): boolean {
    return this.#reading.failing !== null;
  }

  /** Time since which the source is not known to be complete, or null if the source was never complete. */
  get unreadSince(): Micros | null {
    return unreadSince(this.#reading);
  }

  /** True if all labels before the next live frame of the source are stored or recorded as a gap. */
  get whole(): boolean {
    return this.#reading.whole;
  }

  /**
   * True if an outage exceeded the delay limit, or the stream replays earlier labels, and these labels are not yet
   * filled in.
   */
  get behind(): boolean {
    return this.#reading.outageSince !== null;
  }

  /**
   * Time at which labels missed in an outage were last accepted, or the source first responded again. Null before
   * that response, or if no labels are missing.
   */
  get readAt(): Micros | null {
    return this.#reading.outageSince === null ? null : this.#reading.readAt;
  }

  /** Problem of the last failed attempt of this run; null if attempts do not fail. */
  get problem(): LabelerProblem | null {
    return this.#reading.problem;
  }

  /** Returns true if the source is enrolled at `now`. */
  enrolled(now: Micros): boolean {
    return isEnrolledAt(this.#reading, now);
  }
}
