import type { LabelerLine, LabelersHeader } from '../labelers.ts';
import { createPoller, type Poller } from '../poller.ts';
import type { Missing, Unreadable } from '../reading.ts';
import type { ReadLabelerBytes } from './labeler-files.ts';
import { type LabelerSet, labelerDecoder, type MalformedLine, type SliceEnd, slices } from './labeler-set.ts';

/** A labelers artifact with the data that the reader derived from it. */
export interface PreparedLabelers<P> {
  readonly set: LabelerSet;
  readonly prepared: P;
  /** SHA-256 of both files, in hex. */
  readonly digest: string;
  /** Modification time of the newer file, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** Current reading of the labelers artifact. */
export type LabelersReading<P> =
  /** The newest artifact and its predecessor, which may still match the current overview. */
  { readonly kind: 'readable'; readonly sets: readonly PreparedLabelers<P>[] } | Missing | Unreadable | MalformedLine;

/**
 * Functions with which a reader processes one artifact. `visit` processes each line during decoding; `finish` then
 * processes the whole artifact.
 */
export interface Preparation<P> {
  visit(line: LabelerLine, header: LabelersHeader): void;
  /** Completes the processing in slices of the event loop. */
  finish(set: LabelerSet, sliceEnd: SliceEnd): Promise<P>;
}

/** Options for a source of the labelers artifact. */
interface LabelersSourceOptions<P> {
  readonly readBytes: ReadLabelerBytes;
  readonly prepare: () => Preparation<P>;
  /** Interval between attempts to read the files, in milliseconds. */
  readonly pollMs: number;
  /** Maximum time for which `start` waits for the first reading, in milliseconds. */
  readonly firstReadingMs: number;
  /** Returns the time of a monotonic clock in milliseconds; used for the length of slices. */
  readonly monotonic: () => number;
  /** Called with the first reading and with every change, for the log. */
  readonly observe?: (reading: LabelersReading<P>) => void;
  /** Called with an unexpected error, which no kind of reading describes. */
  readonly failed: (error: unknown) => void;
  /** Called after every attempt. */
  readonly polled?: () => void;
}

/** A source of the labelers artifact. The artifact is read in the background, so a request never waits for it. */
export interface LabelersSource<P> {
  read(): LabelersReading<P>;
  /** Starts the background work. Resolves after the first attempt to read the artifact, or after `firstReadingMs`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the source of the labelers artifact. */
export function labelersSource<P>(options: LabelersSourceOptions<P>): LabelersSource<P> {
  const poller = new LabelersPoller(options);
  return { read: () => poller.read(), start: () => poller.start(), stop: () => poller.stop() };
}

class LabelersPoller<P> {
  readonly #options: LabelersSourceOptions<P>;
  readonly #stopping = new AbortController();
  readonly #decode = labelerDecoder();
  #reading: LabelersReading<P> = { kind: 'unreadable', why: 'the artifact has not been read yet' };
  readonly #poller: Poller;

  constructor(options: LabelersSourceOptions<P>) {
    this.#options = options;
    this.#poller = createPoller({
      poll: () => this.#poll(),
      pollMs: options.pollMs,
      firstMs: options.firstReadingMs,
      signal: this.#stopping.signal,
    });
  }

  read(): LabelersReading<P> {
    return this.#reading;
  }

  start(): Promise<void> {
    return this.#poller.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#poller.finished();
  }

  async #poll(): Promise<void> {
    try {
      await this.#attempt();
    } catch (error) {
      this.#options.failed(error);
      this.#become({ kind: 'unreadable', why: 'the artifact could not be processed' });
    }
    try {
      this.#options.polled?.();
    } catch (error) {
      this.#options.failed(error);
    }
  }

  async #attempt(): Promise<void> {
    const { readBytes, prepare, monotonic } = this.#options;
    const read = await readBytes(this.#stopping.signal);
    if (this.#stopping.signal.aborted || read.kind === 'unchanged') return;
    if (read.kind !== 'bytes') {
      this.#become(read);
      return;
    }
    const preparation = prepare();
    const sliceEnd = slices(monotonic);
    const decoded = await this.#decode(read.bytes, (line, header) => preparation.visit(line, header), sliceEnd);
    // The files are being replaced. The second file is about to change, and the next attempt reads both again.
    if (decoded.kind === 'unequal') return;
    if (decoded.kind === 'malformed') {
      this.#become(decoded);
      return;
    }
    const { set } = decoded;
    const { digest, modifiedAt } = read;
    const newest = { set, prepared: await preparation.finish(set, sliceEnd), digest, modifiedAt };
    const earlier = this.#reading.kind === 'readable' ? this.#reading.sets.slice(0, 1) : [];
    this.#become({ kind: 'readable', sets: [newest, ...earlier] });
  }

  #become(next: LabelersReading<P>): void {
    const { kind } = this.#reading;
    if (next.kind !== 'readable' && next.kind === kind && next.why === this.#reading.why) return;
    this.#reading = next;
    this.#options.observe?.(next);
  }
}
