import type { Peer } from '../../network/http/http.ts';
import type { GapChange } from '../../store/port.ts';
import type { ReadPosition } from '../label/position.ts';
import { initialProgress, progressAfter, type ReadProgress } from './read-progress.ts';
import type { ReadingEvent } from './reading-events.ts';
import type { Tracker } from './tracker.ts';

/** Properties that identify a source. */
interface SourceName {
  readonly did: string;
  readonly endpoint: string;
  /** The source and its current privilege, for the slots of its host. */
  readonly peer: Peer;
}

/**
 * A source while it is read at one endpoint, with its progress, which only `apply` changes. The tracker outlives the
 * source, because a labeler may move to another endpoint.
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

  /** Applies an event. Returns the gap that must be recorded or withdrawn, or null. */
  apply(event: ReadingEvent): GapChange | null {
    this.#progress = progressAfter(this.#progress, event);
    return this.tracker.apply(event);
  }

  /** Progress of reading at this endpoint. */
  get progress(): ReadProgress {
    return this.#progress;
  }

  get position(): ReadPosition {
    return this.#progress.position;
  }
}
