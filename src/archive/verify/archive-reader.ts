import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBody } from '../../client/body.ts';
import { cacheLifetimeMs, retryAfterSeconds } from '../../client/headers.ts';
import { inputLimits } from '../../input/limits.ts';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import type { Finding } from './finding.ts';

/** Maximum size of a file of an archive, in bytes. */
const maxBytes = inputLimits.archiveFile.bytes;

/** Reads the files of an archive under verification, by their paths relative to its directory or URL. */
export interface ArchiveReader {
  /**
   * Resolves with the bytes of a file; null if it does not exist. Rejects with OperatorError if the file cannot be
   * read, so that an interrupted connection is not reported as a missing file.
   */
  read(path: string): Promise<Buffer | null>;
  /**
   * Returns the longest time in milliseconds for which a cache may have kept one of the files before it was read. Absent
   * if no cache can be involved.
   */
  cachedMs?(): number;
}

/** Reads an archive in a directory. */
export function directoryReader(root: string): ArchiveReader {
  return {
    read(path) {
      const file = join(root, path);
      try {
        const stats = statSync(file);
        // Accept only regular files: a hostile archive may contain links to endless devices, and pipes without a
        // writer.
        if (!stats.isFile()) throw new OperatorError(`${path} is not a regular file`);
        if (stats.size > maxBytes) throw new OperatorError(`${path} is larger than ${maxBytes} bytes`);
        return Promise.resolve(readFileSync(file));
      } catch (error) {
        if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return Promise.resolve(null);
        if (error instanceof OperatorError) return Promise.reject(error);
        return Promise.reject(new OperatorError(`cannot read ${file}: ${systemWords(error)}`));
      }
    },
  };
}

/** Limits on the total time and bytes of reading an archive from a URL. */
export interface ReadingLimits {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Limits of a verification, so that a server cannot prolong it with slow or endless responses. A ten-year archive
 * contains 150,000 files with about 3 GB, most of which are read once. Its verification stays within the limits if each
 * response takes half a second (`limits.test.ts`).
 */
export const verifyLimits: ReadingLimits = { ms: 24 * 3_600_000, bytes: 64_000_000_000 };

/** Error for an archive that exceeds the limits of a verification. The verification ends with the findings so far. */
export class ReadingLimitError extends OperatorError {
  readonly limit: keyof ReadingLimits;

  constructor(limit: keyof ReadingLimits, limits: ReadingLimits) {
    super(
      limit === 'ms'
        ? `the verification ended after ${limits.ms / 1000} seconds, before all files were read`
        : `the verification ended after ${limits.bytes} bytes, before all files were read`,
    );
    this.limit = limit;
  }
}

/**
 * Runs a step of the verification. If a file cannot be read, reports it and resolves with null, so that earlier
 * findings are kept. Rejects with ReadingLimitError if a limit is reached.
 */
export async function orReport<T>(
  path: string,
  report: (finding: Finding) => void,
  step: () => Promise<T>,
): Promise<T | null> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof OperatorError) || error instanceof ReadingLimitError) throw error;
    report({ kind: 'unreadable', path, message: error.message });
    return null;
  }
}

/** Options for reading an archive from a URL. */
interface UrlReaderOptions {
  /** Address of the archive's directory, chosen by the operator, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  /** Timeout of a whole response, in milliseconds. */
  readonly timeoutMs: number;
  /** Limits of all requests together; `verifyLimits` by default. */
  readonly limits?: ReadingLimits;
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  /** Resolves after a number of milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** Statuses of a server or proxy that is overloaded, restarts, or limits the rate of requests. */
const transientStatuses = [429, 502, 503, 504];
/** Maximum number of requests for one file. */
const maxTries = 6;
/** Delay before the second request for a file, in milliseconds, which doubles with each further request. */
const firstRetryMs = 1_000;
/** Longest `Retry-After` that is followed, in milliseconds. */
const maxRetryMs = 300_000;
/** Longest lifetime in caches that a verification takes into account, in milliseconds. */
const maxCachedMs = 300_000;

/**
 * Reads an archive from a URL. Redirects are not followed. If the server or a proxy is overloaded, limits the rate of
 * requests or breaks off a response, requests the file again, and waits as long as `Retry-After` states. `read` rejects
 * with ReadingLimitError once a limit is reached.
 */
export class UrlReader implements ArchiveReader {
  readonly #options: UrlReaderOptions;
  readonly #limits: ReadingLimits;
  readonly #end: number;
  #leftBytes: number;
  #cachedMs = 0;
  /** True once a file was read: an address that never responded is probably wrong. */
  #isReachable = false;
  /** True if the last file could not be read with all its requests. The next files are then requested only once. */
  #isExhausted = false;

  constructor(options: UrlReaderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? verifyLimits;
    this.#end = options.monotonic() + this.#limits.ms;
    this.#leftBytes = this.#limits.bytes;
  }

  cachedMs(): number {
    return this.#cachedMs;
  }

  async read(path: string): Promise<Buffer | null> {
    for (let tries = 1; ; tries += 1) {
      const { bytes, lifetimeMs = 0, failure } = await this.#request(path);
      this.#cachedMs = Math.max(this.#cachedMs, Math.min(lifetimeMs, maxCachedMs));
      if (!failure) {
        [this.#isReachable, this.#isExhausted] = [true, false];
        return bytes;
      }
      const { error, retryMs } = failure;
      const isTemporary = retryMs !== null && (failure.isStatus || this.#isReachable);
      const waitMs = Math.max(retryMs ?? 0, firstRetryMs * 2 ** (tries - 1));
      if (!isTemporary || waitMs > maxRetryMs || this.#isExhausted || tries === maxTries) {
        if (isTemporary) this.#isExhausted = true;
        throw error;
      }
      await this.#options.wait(Math.min(waitMs, this.#leftMs()));
    }
  }

  /** Requests a file within the limits. Throws ReadingLimitError once a limit is reached. */
  async #request(path: string): Promise<Response> {
    const [leftMs, leftBytes] = [this.#leftMs(), this.#leftBytes];
    if (leftBytes <= 0) throw new ReadingLimitError('bytes', this.#limits);
    const response = await request(this.#options, path, { leftMs, leftBytes });
    this.#leftMs();
    const { bytes, failure } = response;
    this.#leftBytes -= failure?.isTooLarge === true ? Math.min(maxBytes, leftBytes) : (bytes?.length ?? 0);
    if (this.#leftBytes <= 0) throw new ReadingLimitError('bytes', this.#limits);
    return response;
  }

  /** Returns the remaining time in milliseconds. Throws ReadingLimitError if there is none. */
  #leftMs(): number {
    const left = this.#end - this.#options.monotonic();
    if (left <= 0) throw new ReadingLimitError('ms', this.#limits);
    return left;
  }
}

interface Response {
  /** Body of the response; null if the file does not exist. */
  readonly bytes: Buffer | null;
  /** Time for which caches may keep the response, in milliseconds. */
  readonly lifetimeMs?: number;
  readonly failure?: {
    readonly error: OperatorError;
    readonly isTooLarge: boolean;
    /** True if the failure is the status of a response. */
    readonly isStatus: boolean;
    /** Minimum delay before another request, in milliseconds; null if another request would fail too. */
    readonly retryMs: number | null;
  };
}

/** Requests a file within the remaining time and bytes. */
async function request(
  { base, fetch, userAgent, timeoutMs }: UrlReaderOptions,
  path: string,
  { leftMs, leftBytes }: { readonly leftMs: number; readonly leftBytes: number },
): Promise<Response> {
  const refused = (why: string, more: Partial<NonNullable<Response['failure']>> = {}): Response => {
    const error = new OperatorError(`cannot read ${path} from the URL: ${why}`);
    return { bytes: null, failure: { error, isTooLarge: false, isStatus: false, retryMs: null, ...more } };
  };
  const signal = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, leftMs)));
  try {
    const response = await fetch(`${base}/${path}`, {
      ...{ headers: { 'User-Agent': userAgent }, redirect: 'manual', signal },
    });
    const { status, headers } = response;
    if (status !== 200) {
      // Cancel the unread body, because it would hold its connection until the timeout.
      await response.body?.cancel();
      if ([404, 410].includes(status)) return { bytes: null, lifetimeMs: lifetimeOf(headers) };
      const retryMs = transientStatuses.includes(status) ? retryAfterMs(headers) : null;
      const later = retryMs ? `; the server can be asked again in ${retryMs / 1000} s` : '';
      return refused(`status ${status}${later}`, { isStatus: true, retryMs });
    }
    const max = Math.min(maxBytes, leftBytes);
    const bytes = await readBody(response, max);
    if (!bytes) return refused(`it is larger than ${max} bytes`, { isTooLarge: true });
    return { bytes: Buffer.from(bytes.buffer), lifetimeMs: lifetimeOf(headers) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return refused(signal.aborted ? 'no response in time' : systemWords(cause), { retryMs: 0 });
  }
}

/** Returns the delay that a response requests, in milliseconds; 0 without a valid `Retry-After`. */
function retryAfterMs(headers: Headers): number {
  // A date is compared with the server's own clock.
  return (retryAfterSeconds(headers, Date.parse(headers.get('date') ?? '')) ?? 0) * 1000;
}

/** Returns the time for which caches may keep a response, in milliseconds; 0 for a file that never changes. */
function lifetimeOf(headers: Headers): number {
  const stated = headers.get('cache-control') ?? '';
  return stated === '' || /\bimmutable\b/i.test(stated) ? 0 : cacheLifetimeMs(headers);
}
