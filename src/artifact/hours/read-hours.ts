import { inputLimits } from '../../input/limits.ts';
import { decodeArtifact } from '../decode.ts';
import { fileSource } from '../file-source.ts';
import type { Reading, Recogniser } from '../reading.ts';
import type { ArtifactSource } from '../source.ts';
import { maxHoursBytes } from './hours.ts';

/** Decodes the bytes of an hours file. The caller must limit the number of bytes to `maxHoursBytes`. */
export function decodeHours<A>(bytes: Uint8Array, recognise: Recogniser<A>, modifiedAt = 0): Reading<A> {
  return decodeArtifact(bytes, modifiedAt, recognise, inputLimits.hoursFile);
}

/** Options for a source of an hours file. */
export interface HoursSourceOptions<A> {
  readonly path: string;
  readonly recognise: Recogniser<A>;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Creates the source of an hours file, which is read again whenever the file has changed. */
export function hoursSource<A>(options: HoursSourceOptions<A>): ArtifactSource<A> {
  return fileSource({ ...options, maxBytes: maxHoursBytes, limits: inputLimits.hoursFile });
}
