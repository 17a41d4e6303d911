import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { JsonLimits } from '../input/json-budget.ts';
import { systemCode, systemWords } from '../ops/errors.ts';
import { stampOf } from '../ops/file-stamp.ts';
import {
  type ArtifactSource,
  decodeArtifact,
  type Missing,
  type Reading,
  type Recogniser,
  type Unreadable,
} from './reading.ts';

/** Options for a file source. */
interface FileSourceOptions<A> {
  readonly path: string;
  readonly recognise: Recogniser<A>;
  /** Maximum size of the file, in bytes; a larger file is unreadable. */
  readonly maxBytes: number;
  /** Limits on the shape of the JSON; default: those of an artifact. */
  readonly limits?: JsonLimits;
  /**
   * Returns the current time in milliseconds since 1970. It is used only to detect whether a file is still being
   * written.
   */
  readonly clock: () => number;
  /** Called with the first reading and with every change, for the log. */
  readonly observe?: (reading: Reading<A>) => void;
}

/**
 * Age of a file in milliseconds below which it is read again each time. Kernel timestamps have a granularity of
 * several milliseconds, so a second write might not change them.
 */
const settledAfterMs = 100;

type Bytes = { kind: 'bytes'; bytes: Buffer; modifiedAt: number; stamp: string } | Missing | Unreadable;

/**
 * Creates the source of an artifact in a file. The source calls `stat` at most once per turn of the event loop, and
 * reads the file only if it has changed or was written within the last 100 ms. A file that is replaced by a rename is
 * never read partially.
 */
export function fileSource<A>(options: FileSourceOptions<A>): ArtifactSource<A> {
  const { path, recognise, maxBytes, limits, clock, observe } = options;
  let reading: Reading<A> | undefined;
  let stamp = '';
  let seen = '';
  let lookedInThisTurn = false;

  function forgetTurn(): void {
    lookedInThisTurn = false;
  }

  function look(): Reading<A> {
    const stats = statOf(path);
    if (reading && !('kind' in stats) && stampOf(stats) === stamp) return reading;
    const read = 'kind' in stats ? stats : readBytes(path, maxBytes, clock);
    stamp = read.kind === 'bytes' ? read.stamp : '';
    const identity = read.kind === 'bytes' ? identityOf(read.bytes, read.modifiedAt) : `${read.kind} ${read.why}`;
    if (reading && identity === seen) return reading;
    seen = identity;
    reading = read.kind === 'bytes' ? decodeArtifact(read.bytes, read.modifiedAt, recognise, limits) : read;
    observe?.(reading);
    return reading;
  }

  return {
    read() {
      if (lookedInThisTurn && reading) return reading;
      lookedInThisTurn = true;
      setImmediate(forgetTurn);
      return look();
    },
    start() {
      look();
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  };
}

function statOf(path: string): Stats | Missing | Unreadable {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? missing();
  } catch (error) {
    return failure(error);
  }
}

function readBytes(path: string, maxBytes: number, clock: () => number): Bytes {
  let descriptor: number;
  try {
    // Open without blocking, so that a FIFO in the artifact's place cannot stop the service.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return failure(error);
  }
  try {
    const before = fstatSync(descriptor);
    if (!before.isFile()) return { kind: 'unreadable', why: 'the artifact is not a regular file' };
    if (before.size > maxBytes) return tooLarge(maxBytes);
    const bytes = readBounded(descriptor, maxBytes);
    if (!bytes) return tooLarge(maxBytes);
    const after = fstatSync(descriptor);
    const settled = stampOf(before) === stampOf(after) && clock() - after.ctimeMs > settledAfterMs;
    return { kind: 'bytes', bytes, modifiedAt: after.mtimeMs, stamp: settled ? stampOf(after) : '' };
  } catch (error) {
    return failure(error);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a file to its end. Returns null if it exceeds the limit, because the file may have grown since `stat`. */
function readBounded(descriptor: number, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks, total);
    total += count;
    if (total > maxBytes) return null;
    chunks.push(chunk.subarray(0, count));
  }
}

function identityOf(bytes: Buffer, modifiedAt: number): string {
  return `${modifiedAt} ${createHash('sha256').update(bytes).digest('hex')}`;
}

function tooLarge(maxBytes: number): Unreadable {
  return { kind: 'unreadable', why: `the artifact is larger than ${maxBytes} bytes` };
}

function missing(): Missing {
  return { kind: 'missing', why: 'the file does not exist' };
}

/** Describes the system's error for a file that could not be read. */
export function failure(error: unknown): Missing | Unreadable {
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing();
  return { kind: 'unreadable', why: `the artifact cannot be read: ${systemWords(error)}` };
}
