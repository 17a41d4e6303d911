import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBody } from '../../client/body.ts';
import { inputLimits } from '../../input/limits.ts';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';

/** Maximum size of a file of an archive, in bytes. */
const maxBytes = inputLimits.archiveFile.bytes;

/** Files of an archive that is verified, by their paths below its directory or URL. */
export interface ArchiveReader {
  /**
   * Resolves with the bytes of a file; null if it does not exist. Rejects with OperatorError if it cannot be read, so that
   * an interrupted connection is not reported as a missing file.
   */
  read(path: string): Promise<Buffer | null>;
}

/** Reads an archive in a directory. */
export function directoryReader(root: string): ArchiveReader {
  return {
    read(path) {
      const file = join(root, path);
      try {
        const { size } = statSync(file);
        if (size > maxBytes) throw new OperatorError(`${path} is larger than ${maxBytes} bytes`);
        return Promise.resolve(readFileSync(file));
      } catch (error) {
        if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return Promise.resolve(null);
        if (error instanceof OperatorError) return Promise.reject(error);
        return Promise.reject(new OperatorError(`cannot read ${file}: ${systemWords(error)}`));
      }
    },
  };
}

/** Options for reading an archive from a URL. */
export interface UrlReaderOptions {
  /** Address of the archive's directory, chosen by the operator, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  /** Timeout of a whole response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Reads an archive from a URL. Redirects are not followed. */
export function urlReader({ base, fetch, userAgent, timeoutMs }: UrlReaderOptions): ArchiveReader {
  return {
    async read(path) {
      const refused = (why: string): OperatorError => new OperatorError(`cannot read ${path} from the URL: ${why}`);
      const signal = AbortSignal.timeout(timeoutMs);
      const headers = { 'User-Agent': userAgent };
      let bytes: Uint8Array<ArrayBuffer> | null;
      try {
        const response = await fetch(`${base}/${path}`, { headers, redirect: 'manual', signal });
        if (response.status === 404 || response.status === 410) {
          await response.body?.cancel();
          return null;
        }
        if (response.status !== 200) throw refused(`status ${response.status}`);
        bytes = await readBody(response, maxBytes);
      } catch (error) {
        if (error instanceof OperatorError) throw error;
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        throw refused(signal.aborted ? 'no response in time' : systemWords(cause));
      }
      if (!bytes) throw refused(`it is larger than ${maxBytes} bytes`);
      return Buffer.from(bytes.buffer);
    },
  };
}
