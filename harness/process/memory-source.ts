import { type ArtifactSource, decodeArtifact, type Reading, type Recogniser } from '../../src/artifact/reading.ts';

/** An artifact source whose bytes a test sets. All other behaviour is the program's own code. */
interface MemorySource<A> extends ArtifactSource<A> {
  /** Sets the bytes, which were modified at `modifiedAt` if it is given. */
  set(bytes: Uint8Array | null, modifiedAt?: number): void;
}

/** Creates an in-memory artifact source. The artifact is missing until a test sets it. */
export function memorySource<A>(recognise: Recogniser<A>, modifiedAt = 0): MemorySource<A> {
  let reading: Reading<A> = { kind: 'missing', why: 'not set' };
  return {
    read: () => reading,
    set: (bytes, at = modifiedAt) => {
      reading = bytes === null ? { kind: 'missing', why: 'not set' } : decodeArtifact(bytes, at, recognise);
    },
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
