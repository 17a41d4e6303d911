import type { Reading } from './reading.ts';

/** A source of an artifact that is read at every request, so a read must be cheap. */
export interface ArtifactSource<A> {
  /** Returns the current reading of the artifact, which is the same object until the artifact changes. */
  read(): Reading<A>;
  /**
   * Starts the background work. Resolves after the first attempt to read the artifact, or earlier if that attempt
   * takes too long.
   */
  start(): Promise<void>;
  /** Stops the background work of the source. */
  stop(): Promise<void>;
}

/** Called with the first reading and with every change, for the log. */
export type ReadingObserver<A> = (reading: Reading<A>) => void;
