import { setTimeout as delay } from 'node:timers/promises';
import type { ReadLabelerBytes } from './labeler-files.ts';
import { type LabelerSet, labelerDecoder, type MalformedLine } from './labeler-set.ts';
import type { LabelerLine, LabelersHeader } from './labelers.ts';
import type { Missing, Unreadable } from './reading.ts';
import { type SliceEnd, slices } from './slices.ts';

/** A labelers artifact with what the reader prepared from it. */
export interface PreparedLabelers<P> {
  readonly set: LabelerSet;
  readonly prepared: P;
  /** SHA-256 of both files, in hex. */
  readonly digest: string;
  /** Modification time of the newer file, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** The current reading of the labelers artifact. */
export type LabelersReading<P> =
  /** The newest artifact and the previous one, which may still belong to the current overview. */
  { readonly kind: 'readable'; readonly sets: readonly PreparedLabelers<P>[] } | Missing | Unreadable | MalformedLine;

/**
 * Work of the reader on one artifact. `visit` processes each line while it is decoded, and `finish` the whole artifact
 * afterwards.
 */
export interface Preparation<P> {
  visit(line: LabelerLine, header: LabelersHeader): void;
  /** Finishes the work, in slices of the event loop. */
  finish(set: LabelerSet, sliceEnd: SliceEnd): Promise<P>;
}

/** Options of a source of the labelers artifact. */
export interface LabelersSourceOptions<P> {
  readonly readBytes: ReadLabelerBytes;
  readonly prepare: () => Preparation<P>;
  /** Interval between two attempts to read the files, in milliseconds. */
  readonly pollMs: number;
  /** Maximum time in milliseconds that `start` waits for the first reading. */
  readonly firstReadingMs: number;
  /** Returns milliseconds of a clock that is never set, for the length of slices. */
  readonly monotonic: () => number;
  /** Called with the first reading and with every change, for the log. */
  readonly observe?: (reading: LabelersReading<P>) => void;
  /** Called with an error that no reading describes. */
  readonly failed: (error: unknown) => void;
  /** Called after every attempt. */
  readonly polled?: () => void;
}

/** A source of the labelers artifact. The artifact is read in the background, so a request never waits for it. */
export interface LabelersSource<P> {
  read(): LabelersReading<P>;
  /** Starts background work. Resolves after the first attempt to read the artifact. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the source of the labelers artifact. */
export function labelersSource<P>(options: LabelersSourceOptions<P>): LabelersSource<P> {
  const { readBytes, prepare, pollMs, firstReadingMs, monotonic, observe, failed, polled } = options;
  const stopping = new AbortController();
  const decode = labelerDecoder();
  let reading: LabelersReading<P> = { kind: 'unreadable', why: 'the artifact has not been read yet' };
  let polling: Promise<void> = Promise.resolve();

  function become(next: LabelersReading<P>): void {
    if (next.kind !== 'readable' && next.kind === reading.kind && next.why === reading.why) return;
    reading = next;
    observe?.(next);
  }

  async function poll(): Promise<void> {
    try {
      await attempt();
    } catch (error) {
      failed(error);
      become({ kind: 'unreadable', why: 'the artifact could not be processed' });
    }
  }

  async function attempt(): Promise<void> {
    const read = await readBytes(stopping.signal);
    if (stopping.signal.aborted || read.kind === 'unchanged') return;
    if (read.kind !== 'bytes') {
      become(read);
      return;
    }
    const preparation = prepare();
    const sliceEnd = slices(monotonic);
    const decoded = await decode(read.bytes, preparation.visit, sliceEnd);
    // Ignore files of different instants: they are being replaced, and a change of the second file follows.
    if (decoded.kind === 'unequal') return;
    if (decoded.kind === 'malformed') {
      become(decoded);
      return;
    }
    const { set } = decoded;
    const { digest, modifiedAt } = read;
    const newest = { set, prepared: await preparation.finish(set, sliceEnd), digest, modifiedAt };
    const earlier = reading.kind === 'readable' ? reading.sets.slice(0, 1) : [];
    become({ kind: 'readable', sets: [newest, ...earlier] });
  }

  async function pollForEver(first: Promise<void>): Promise<void> {
    const { signal } = stopping;
    await first;
    while (!signal.aborted) {
      polled?.();
      await delay(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await poll();
    }
  }

  return {
    read: () => reading,
    async start() {
      const first = poll();
      polling = pollForEver(first);
      await Promise.race([first, delay(firstReadingMs, undefined, { ref: false })]);
    },
    async stop() {
      stopping.abort();
      await polling;
    },
  };
}
