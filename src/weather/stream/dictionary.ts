import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inputLimits } from '../../input/limits.ts';
import type { BytesAnswer } from '../../network/http/http.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { isZstdDictionary } from './compression.ts';

/** The last dictionary of the host, in the data directory. */
export const dictionaryFile = 'jetstream-dictionary.zstd';
/** Interval between requests to a host that sends no dictionary, in milliseconds. */
const retryMs = 3_600_000;

/** Source of the dictionary with which live reading requests compression. */
export interface Dictionaries {
  /** Resolves with the dictionary to use now; null to read without compression. Never rejects. */
  current(signal: AbortSignal): Promise<Buffer | null>;
  /** Called when the host does not know the dictionary, or does not compress with it. */
  refused(): void;
}

/** Uses the dictionary of the operator's file until the host refuses it; null for none. */
export function givenDictionary(dictionary: Buffer | null): Dictionaries {
  let given = dictionary;
  return {
    current: () => Promise.resolve(given),
    refused: () => {
      given = null;
    },
  };
}

/** Dependencies of fetching the host's own dictionary. */
export interface FetchOptions {
  readonly folder: string;
  readonly fetch: (signal: AbortSignal) => Promise<BytesAnswer>;
  readonly clock: () => number;
  readonly log: Log;
}

/** Uses the host's own dictionary: the stored one, and a new one when the host no longer knows that. */
export function fetchedDictionary({ folder, fetch, clock, log }: FetchOptions): Dictionaries {
  const path = join(folder, dictionaryFile);
  let held: Buffer | null = null;
  let looked = false;
  let askedMs = Number.NEGATIVE_INFINITY;

  async function ask(signal: AbortSignal): Promise<Buffer | null> {
    if (clock() - askedMs < retryMs) return null;
    askedMs = clock();
    const answer = await fetch(signal);
    if (answer.kind !== 'bytes' || !isZstdDictionary(answer.bytes)) {
      log.warn('the host gives no dictionary; reading without compression', { answer: answer.kind });
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
      log.warn('the dictionary could not be kept; it is fetched again at the next start', errorFields(error));
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
    // The file does not exist yet or cannot be read: the host is asked.
    return null;
  }
}
