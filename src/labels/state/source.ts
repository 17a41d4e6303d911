import type { Peer } from '../../network/http/http.ts';
import type { GapChange } from '../../store/port.ts';
import type { ReadPosition } from '../label/position.ts';
import { initialProgress, progressAfter, type ReadProgress } from './read-progress.ts';
import type { ReadingEvent } from './reading-events.ts';
import type { Tracker } from './tracker.ts';

/** A source by name. */
interface SourceName {
  readonly did: string;
  readonly endpoint: string;
  /** On whose behalf its host is asked, and whether reserved slots may serve it just now. */
  readonly peer: Peer;
}

/**
 * A source while it is read at one endpoint, and the owner of its place: `apply` is the only way to change that. The
 * tracker outlives it, because a labeler may move.
 */
export class Source implements SourceName {
  readonly did: string;
  readonly endpoint: string;
  readonly peer: Peer;
  readonly tracker: Tracker;
  #progress: ReadProgress;

  constructor({ did, endpoint, peer }: SourceName, tracker: Tracker, position: ReadPosition) {
    this.did = did;
    this.endpoint = endpoint;
    this.peer = peer;
    this.tracker = tracker;
    this.#progress = initialProgress(position);
  }

  /** Takes an event into account. Returns the gap that is to be recorded or taken back now, or null. */
  apply(event: ReadingEvent): GapChange | null {
    this.#progress = progressAfter(this.#progress, event);
    return this.tracker.apply(event);
  }

  /** The place at which reading goes on. */
  get progress(): ReadProgress {
    return this.#progress;
  }

  get position(): ReadPosition {
    return this.#progress.position;
  }
}
