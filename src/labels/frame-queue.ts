import { type LabelFrame, readFrame } from './frames.ts';

/** Frames that may wait for the writer before a connection is not read any further. */
const mostFrames = 256;
/** The same in bytes: a frame may be as large as a page. */
export const mostWaitingBytes = 16 * 1024 * 1024;

/** The frames of one connection that wait for the writer, bounded by number and by bytes. */
export class FrameQueue {
  #frames: LabelFrame[] = [];
  #bytes = 0;

  /** Adds a message; true when no more should be read for now. What was read already may still come. */
  push(bytes: Uint8Array): boolean {
    this.#frames.push(readFrame(bytes));
    this.#bytes += bytes.byteLength;
    return this.#frames.length >= mostFrames || this.#bytes >= mostWaitingBytes;
  }

  /** Takes all that wait. */
  take(): readonly LabelFrame[] {
    const frames = this.#frames;
    this.#frames = [];
    this.#bytes = 0;
    return frames;
  }
}
