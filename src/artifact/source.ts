import type { Reading } from './reading.ts';

/** Where an artifact is read from: asked at every request, and cheap to ask. */
export interface ArtifactSource<A> {
  /** The artifact as it is now. The same object as long as nothing about the artifact changed. */
  read(): Reading<A>;
  /** Begins what must run beside the requests; resolves when a first reading was tried. */
  start(): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Told of every change of a reading, the first one included; for the log. */
export type ReadingObserver<A> = (reading: Reading<A>) => void;
