import type { Reading } from './reading.ts';

/** A source of an artifact: read at every request, at low cost. */
export interface ArtifactSource<A> {
  /** Returns the artifact as it is now; the same object until the artifact changes. */
  read(): Reading<A>;
  /** Starts background work; resolves after the first attempt to read. */
  start(): Promise<void>;
  /** Stops background work. */
  stop(): Promise<void>;
}

/** Called with the first reading and with every change, for the log. */
export type ReadingObserver<A> = (reading: Reading<A>) => void;
