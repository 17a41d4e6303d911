import { createDecodedBytes, type DecodedBytes } from '../../input/decoded-bytes.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';

/** The memory of the label instrument for what sources gave and is not yet stored, shared between all of them. */
export interface InputMemory {
  /** Bytes of frames that wait to be decoded, or have not arrived in full. A connection that exceeds its share is not read. */
  readonly queued: DecodedBytes;
  /** Frames and pages once they are decoded. */
  readonly decoded: DecodedBytes;
  /** Turns to ask for a page that may be as large as one huge label. */
  readonly largePages: Slots;
}

const mib = 1024 * 1024;
/** A source with a few ordinary labels never waits for the others: one takes about 3 KiB, and 5,000 sources reserve 80 MiB at most. */
export const reservedMemory = 16 * 1024;

/** Makes the memory of one instrument: together 128 MiB, besides the reserves. */
export function createInputMemory(): InputMemory {
  return {
    queued: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 0 }),
    decoded: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 32 * mib }),
    largePages: createSlots({ perHost: 1, total: 2, maxWaiting: 1_000 }),
  };
}
