import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { stampOf } from '../../ops/file-stamp.ts';
import { createPoller, type Poller } from '../../ops/poller.ts';
import { failure } from '../file-source.ts';
import { type LabelerLine, type LabelersHeader, labelersLimits } from '../labelers.ts';
import type { Missing, Unreadable } from '../reading.ts';
import { type ArtifactResponse, requestArtifact } from '../url-source.ts';
import {
  type LabelerBytes,
  type LabelerSet,
  labelerDecoder,
  type MalformedLine,
  type SliceEnd,
  slices,
} from './labeler-set.ts';

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
  /** The two files: their paths, their URLs, or a function that reads them. */
  readonly from: LabelerPaths | LabelerUrls | ReadLabelerBytes;
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

/** The source of the labelers artifact, which is read in the background, so a request never waits for it. */
export class LabelersSource<P> {
  readonly #options: LabelersSourceOptions<P>;
  readonly #stopping = new AbortController();
  readonly #decode = labelerDecoder();
  readonly #readBytes: ReadLabelerBytes;
  #reading: LabelersReading<P> = { kind: 'unreadable', why: 'the artifact has not been read yet' };
  readonly #poller: Poller;

  constructor(options: LabelersSourceOptions<P>) {
    this.#options = options;
    this.#readBytes = readerOf(options.from);
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

  /** Starts the background work. Resolves after the first attempt to read the artifact, or after `firstReadingMs`. */
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
    const { prepare, monotonic } = this.#options;
    const read = await this.#readBytes(this.#stopping.signal);
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

/** Result of one attempt to read both files of the labelers artifact. */
export type LabelerBytesReading =
  | {
      readonly kind: 'bytes';
      readonly bytes: LabelerBytes;
      /** SHA-256 of both files, in hex. */
      readonly digest: string;
      /** Modification time of the newer file, in milliseconds since 1970. */
      readonly modifiedAt: number;
    }
  /** Both files are unchanged since the last attempt. */
  | { readonly kind: 'unchanged' }
  | Missing
  | Unreadable;

/**
 * Reads both files of the labelers artifact. Callers must wait for the promise of a call to settle before the next
 * call.
 */
type ReadLabelerBytes = (stop: AbortSignal) => Promise<LabelerBytesReading>;

/** Size of the blocks in which files are read and hashed, in bytes. A block takes less than a millisecond. */
const pieceBytes = 256 * 1024;

const bounds = { labelers: labelersLimits.fileBytes, definitions: labelersLimits.definitionsFileBytes } as const;

function readerOf(from: LabelerPaths | LabelerUrls | ReadLabelerBytes): ReadLabelerBytes {
  if (typeof from === 'function') return from;
  return 'urls' in from ? readingUrls(from) : readingFiles(from);
}

/** Paths of the two files. */
interface LabelerPaths {
  readonly labelers: string;
  readonly definitions: string;
}

/** Creates a function that reads the two files if either has changed. */
function readingFiles(paths: LabelerPaths): ReadLabelerBytes {
  let seen = '';
  return async () => {
    try {
      const before = await stampsOf(paths);
      if (before === seen) return { kind: 'unchanged' };
      const hash = createHash('sha256');
      const labelers = await readPieces(paths.labelers, bounds.labelers, hash.update.bind(hash));
      const definitions = await readPieces(paths.definitions, bounds.definitions, hash.update.bind(hash));
      // If a file changed during the read, the next attempt must read both again.
      seen = before === (await stampsOf(paths)) ? before : '';
      const modifiedAt = Math.max(labelers.modifiedAt, definitions.modifiedAt);
      const bytes = { labelers: labelers.bytes, definitions: definitions.bytes };
      return { kind: 'bytes', bytes, digest: hash.digest('hex'), modifiedAt };
    } catch (error) {
      seen = '';
      return error instanceof ReadFault ? { kind: 'unreadable', why: error.message } : failure(error);
    }
  };
}

async function stampsOf(paths: LabelerPaths): Promise<string> {
  const stats = await Promise.all([stat(paths.labelers), stat(paths.definitions)]);
  return stats.map(stampOf).join(' ');
}

class ReadFault extends Error {}

async function readPieces(path: string, maxBytes: number, update: (piece: Buffer) => void) {
  // Open without blocking, so that a FIFO in the artifact's place cannot stop the service.
  const file: FileHandle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new ReadFault('the artifact is not a regular file');
    if (stats.size > maxBytes) throw new ReadFault(`the artifact is larger than ${maxBytes} bytes`);
    const bytes = Buffer.allocUnsafe(stats.size);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, Math.min(pieceBytes, bytes.length - at), at);
      if (bytesRead === 0) throw new ReadFault('the artifact was truncated while it was being read');
      update(bytes.subarray(at, at + bytesRead));
      at += bytesRead;
    }
    return { bytes, modifiedAt: stats.mtimeMs };
  } finally {
    await file.close();
  }
}

/** The two URLs of the files, with the rules for requests; all times in milliseconds. */
interface LabelerUrls {
  readonly urls: { readonly labelers: URL; readonly definitions: URL };
  readonly userAgent: string;
  /** Maximum time until a complete response has arrived. */
  readonly timeoutMs: number;
  /** Time for which the last response remains valid while the URLs cannot be reached. */
  readonly graceMs: number;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Monotonic clock in milliseconds, by which `graceMs` is measured. */
  readonly monotonic: () => number;
}

type Received = Extract<ArtifactResponse, { kind: 'bytes' }>;
type FileName = keyof LabelerBytes;

/**
 * Creates a function that requests the two URLs with conditional requests. For `graceMs` after the last pair of
 * responses, a URL that cannot be reached counts as unchanged.
 */
function readingUrls({ urls, userAgent, timeoutMs, graceMs, clock, monotonic }: LabelerUrls): ReadLabelerBytes {
  const kept = new Map<FileName, Received>();
  let reachedAt = Number.NEGATIVE_INFINITY;

  const request = (name: FileName, stop: AbortSignal): Promise<ArtifactResponse> => {
    const validators = kept.get(name)?.validators ?? null;
    return requestArtifact({ url: urls[name], userAgent, maxBytes: bounds[name], timeoutMs, validators, stop, clock });
  };

  return async (stop) => {
    const responses = { labelers: await request('labelers', stop), definitions: await request('definitions', stop) };
    let isChanged = false;
    for (const name of ['labelers', 'definitions'] as const) {
      const response = responses[name];
      if (response.kind === 'bytes') {
        isChanged = true;
        kept.set(name, response);
        continue;
      }
      if (response.kind === 'unchanged') continue;
      if (response.kind === 'unreachable' && kept.has(name) && monotonic() - reachedAt < graceMs) continue;
      kept.clear();
      return refusal(response, bounds[name]);
    }
    const { labelers, definitions } = { labelers: kept.get('labelers'), definitions: kept.get('definitions') };
    if (!labelers || !definitions) return { kind: 'unreadable', why: 'the server has not responded yet' };
    const isReached = responses.labelers.kind !== 'unreachable' && responses.definitions.kind !== 'unreachable';
    if (isReached) reachedAt = monotonic();
    if (!isChanged) return { kind: 'unchanged' };
    const modifiedAt = Math.max(labelers.modifiedAt ?? clock(), definitions.modifiedAt ?? clock());
    const bytes = { labelers: labelers.bytes, definitions: definitions.bytes };
    return { kind: 'bytes', bytes, digest: await digestOf(bytes), modifiedAt };
  };
}

function refusal(response: Exclude<ArtifactResponse, { kind: 'bytes' | 'unchanged' }>, maxBytes: number) {
  switch (response.kind) {
    case 'gone':
      return { kind: 'missing', why: 'the server responds that the artifact does not exist' } as const;
    case 'too_large':
      return { kind: 'unreadable', why: `the artifact is larger than ${maxBytes} bytes` } as const;
    case 'unreachable':
      return { kind: 'unreadable', why: `the URL cannot be reached (${response.why})` } as const;
  }
}

async function digestOf({ labelers, definitions }: LabelerBytes): Promise<string> {
  const hash = createHash('sha256');
  for (const bytes of [labelers, definitions]) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      hash.update(bytes.subarray(at, at + pieceBytes));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return hash.digest('hex');
}
