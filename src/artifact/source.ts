import type { Reading } from './reading.ts';

/** A source of an artifact: read at every request, at low cost. */
export interface ArtifactSource<A> {
  /** The artifact as it is now. The same object as long as nothing about the artifact changed. */
  read(): Reading<A>;
  /** Starts background work; resolves after the first attempt to read. */
  start(): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Told of every change of a reading, the first one included; for the log. */
export type ReadingObserver<A> = (reading: Reading<A>) => void;
