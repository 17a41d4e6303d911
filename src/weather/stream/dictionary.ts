import { createHash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, zstdDecompressSync } from 'node:zlib';
import { inputLimits, maxDecodedBytes } from '../../input/limits.ts';
import type { BytesAnswer } from '../../network/http/http.ts';
import { errorFields, type Log } from '../../ops/log.ts';

/**
 * Returns the name of the file in the data directory that holds the last dictionary of a host. Each host has its own
 * file: a dictionary of another host that has the same id would expand the frames to other events.
 */
export function dictionaryFile(endpoint: string): string {
  const key = createHash('sha256').update(endpoint).digest('hex').slice(0, 16);
  return `jetstream-dictionary-${key}.zstd`;
}

/** Interval between requests to a host that provides no dictionary, in milliseconds. */
const retryMs = 3_600_000;

/** Provides the dictionary for compressed live reading. */
export interface Dictionaries {
  /**
   * Resolves with the current dictionary, or with null if the stream is to be read without compression. Never rejects.
   */
  current(signal: AbortSignal): Promise<Buffer | null>;
  /** Reports that the host rejected the dictionary, or does not compress with it. */
  refused(): void;
}

/**
 * Provides the dictionary from the operator's file until the host rejects it. `dictionary` is null if there is no such
 * file.
 */
export function givenDictionary(dictionary: Buffer | null): Dictionaries {
  let given = dictionary;
  return {
    current: () => Promise.resolve(given),
    refused: () => {
      given = null;
    },
  };
}

/** Dependencies of `fetchedDictionary`. */
interface FetchOptions {
  readonly folder: string;
  /** Name of the endpoint that the dictionary belongs to. */
  readonly endpoint: string;
  readonly fetch: (signal: AbortSignal) => Promise<BytesAnswer>;
  readonly clock: () => number;
  readonly log: Log;
}

/**
 * Provides the host's dictionary: the stored one, or a fetched one if none is stored or the host has rejected it.
 * Fetches at most once an hour, and provides null in the meantime.
 */
export function fetchedDictionary({ folder, endpoint, fetch, clock, log }: FetchOptions): Dictionaries {
  const path = join(folder, dictionaryFile(endpoint));
  let held: Buffer | null = null;
  let looked = false;
  let askedMs = Number.NEGATIVE_INFINITY;

  async function ask(signal: AbortSignal): Promise<Buffer | null> {
    if (clock() - askedMs < retryMs) return null;
    askedMs = clock();
    const answer = await fetch(signal);
    if (answer.kind !== 'bytes' || !isZstdDictionary(answer.bytes)) {
      log.warn('the host sent no usable dictionary; reading continues without compression', { answer: answer.kind });
      return null;
    }
    await keep(answer.bytes);
    return answer.bytes;
  }

  async function keep(bytes: Buffer): Promise<void> {
    try {
      await writeFile(`${path}.tmp`, bytes);
      await rename(`${path}.tmp`, path);
    } catch (error) {
      log.warn('the dictionary could not be stored; it will be fetched again at the next start', errorFields(error));
    }
  }

  return {
    async current(signal) {
      if (!looked) held = await kept(path);
      looked = true;
      held ??= await ask(signal);
      return held;
    },
    refused() {
      held = null;
    },
  };
}

async function kept(path: string): Promise<Buffer | null> {
  try {
    if ((await stat(path)).size > inputLimits.zstdDictionary.bytes) return null;
    const bytes = await readFile(path);
    return isZstdDictionary(bytes) ? bytes : null;
  } catch {
    // If the file does not exist or cannot be read, the dictionary is requested from the host.
    return null;
  }
}

/**
 * Maximum size of the window of a frame, as a power of two in bytes: enough for the largest frame. A frame of ten bytes
 * may state a window of 128 MiB, whose allocation takes ten times longer than the expansion of an ordinary frame.
 */
const maxWindowLog = 24;

/**
 * Size of a buffer of the output, in bytes: enough for most frames, and small enough for the pool of Node.js. The default of
 * 16 KiB is allocated for each frame.
 */
const chunkSize = 2_048;

/** Returns true if the bytes begin with the magic number of a zstd dictionary (RFC 8878, section 5). */
export function isZstdDictionary(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32LE(0) === 0xec30a437;
}

/**
 * Returns a function that decodes the messages of a compressed stream. Binary messages are frames compressed with the
 * host's dictionary; text messages are uncompressed frames. A message is returned unchanged if it cannot be
 * decompressed, or would exceed `maxBytes` or a multiple of its length; the classifier then reports a parse error.
 */
export function decompressor(dictionary: Buffer, maxBytes: number): (data: Buffer, isBinary: boolean) => Buffer {
  const params = { [constants.ZSTD_d_windowLogMax]: maxWindowLog };
  return (data, isBinary) => {
    if (!isBinary) return data;
    try {
      const maxOutputLength = maxDecodedBytes(data.length, maxBytes);
      return zstdDecompressSync(data, { dictionary, params, chunkSize, maxOutputLength });
    } catch {
      return data;
    }
  };
}
