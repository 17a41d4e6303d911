import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBody } from '../../client/body.ts';
import { inputLimits } from '../../input/limits.ts';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';

/** Maximum size of a file of an archive, in bytes. */
const maxBytes = inputLimits.archiveFile.bytes;

/** Reads the files of an archive under verification, by their paths relative to its directory or URL. */
export interface ArchiveReader {
  /**
   * Resolves with the bytes of a file; null if it does not exist. Rejects with OperatorError if the file cannot be
   * read, so that an interrupted connection is not reported as a missing file.
   */
  read(path: string): Promise<Buffer | null>;
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

/** Options for reading an archive from a URL. */
export interface UrlReaderOptions {
  /** Address of the archive's directory, chosen by the operator, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  /** Timeout of a whole response, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits: ReadingLimits;
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Reads an archive from a URL. Redirects are not followed. `read` rejects with ReadingLimitError once a limit is
 * reached.
 */
export function urlReader(options: UrlReaderOptions): ArchiveReader {
  const { monotonic, limits } = options;
  const end = monotonic() + limits.ms;
  let leftBytes = limits.bytes;
  return {
    async read(path) {
      const leftMs = end - monotonic();
      if (leftMs <= 0) throw new ReadingLimitError('ms', limits);
      if (leftBytes <= 0) throw new ReadingLimitError('bytes', limits);
      const { bytes, failure } = await request(options, path, { leftMs, leftBytes });
      if (monotonic() >= end) throw new ReadingLimitError('ms', limits);
      leftBytes -= failure?.isTooLarge === true ? Math.min(maxBytes, leftBytes) : (bytes?.length ?? 0);
      if (leftBytes <= 0) throw new ReadingLimitError('bytes', limits);
      if (failure) throw failure.error;
      return bytes;
    },
  };
}

interface Response {
  /** Body of the response; null if the file does not exist. */
  readonly bytes: Buffer | null;
  readonly failure?: { readonly error: OperatorError; readonly isTooLarge: boolean };
}

/** Requests a file within the remaining time and bytes. */
async function request(
  { base, fetch, userAgent, timeoutMs }: UrlReaderOptions,
  path: string,
  { leftMs, leftBytes }: { readonly leftMs: number; readonly leftBytes: number },
): Promise<Response> {
  const refused = (why: string, isTooLarge = false): Response => {
    return {
      bytes: null,
      failure: { error: new OperatorError(`cannot read ${path} from the URL: ${why}`), isTooLarge },
    };
  };
  const signal = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, leftMs)));
  try {
    const response = await fetch(`${base}/${path}`, {
      ...{ headers: { 'User-Agent': userAgent }, redirect: 'manual', signal },
    });
    if (response.status !== 200) {
      // Cancel the unread body, because it would hold its connection until the timeout.
      await response.body?.cancel();
      return [404, 410].includes(response.status) ? { bytes: null } : refused(`status ${response.status}`);
    }
    const max = Math.min(maxBytes, leftBytes);
    const bytes = await readBody(response, max);
    return bytes ? { bytes: Buffer.from(bytes.buffer) } : refused(`it is larger than ${max} bytes`, true);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return refused(signal.aborted ? 'no response in time' : systemWords(cause));
  }
}
