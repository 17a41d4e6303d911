import { createDecodedBytes, type DecodedBytes } from '../../input/decoded-bytes.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';

/** Memory budget that all sources share for input that was received and is not stored yet. */
export interface InputMemory {
  /**
   * Budget for the bytes of frames that wait to be decoded or are incomplete. The reader pauses a connection that
   * exceeds its share.
   */
  readonly queued: DecodedBytes;
  /** Budget for decoded frames and pages. */
  readonly decoded: DecodedBytes;
  /** Slots for requests of large pages, each of which may contain one huge label. */
  readonly largePages: Slots;
}

const mib = 1024 * 1024;
/**
 * Memory reserved for each account of a budget, in bytes, so that a source with a few labels of 3 KiB never waits for
 * other sources. A stream has three accounts: the reserves of 5,000 streams need 234 MiB at most.
 */
export const reservedMemory = 16 * 1024;

/** Creates the memory budget of one instrument: 128 MiB in total, plus the reserves. */
export function createInputMemory(): InputMemory {
  return {
    queued: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 0 }),
    decoded: createDecodedBytes({ total: 64 * mib, reserve: reservedMemory, buffered: 32 * mib }),
    largePages: createSlots({ perHost: 1, total: 2, maxWaiting: 1_000 }),
  };
}
