import { createHash, type Hash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode, systemWords } from '../ops/errors.ts';
import { ExportFailure } from './failure.ts';

/** A position in a target file, to which `rewind` returns. */
interface Mark {
  readonly bytes: number;
  readonly hash: Hash;
}

/**
 * A file that is written atomically: a temporary file in the same directory, fsync, rename, fsync of the directory. On
 * a system error, every asynchronous method except `discard` rejects with ExportFailure `unwritable`.
 */
export interface Target {
  write(content: string | Buffer): Promise<void>;
  mark(): Mark;
  /** Discards everything written after the mark. */
  rewind(mark: Mark): Promise<void>;
  /** SHA-256 of the written bytes, in lower-case hex. */
  sha256(): string;
  /** Makes the bytes durable without renaming the file. */
  seal(): Promise<void>;
  /** Renames a sealed file to its final name; replaces an existing file. */
  publish(): Promise<void>;
  /** True once the file has its final name, even if `publish` then failed to make the name durable. */
  readonly isPublished: boolean;
  /** Removes the temporary file; no effect after `publish`. */
  discard(): Promise<void>;
}

/** Creates the temporary file for `path`. Rejects with ExportFailure `unwritable` if that fails. */
export async function openTarget(path: string): Promise<Target> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const done = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => Promise.reject(unwritable(path, error)));
  // The labels may be sensitive: only the user who exports the account may read the file.
  const file: FileHandle = await done(open(temporary, 'wx', 0o600));
  let bytes = 0;
  let hash = createHash('sha256');
  let state: 'open' | 'sealed' | 'over' = 'open';
  let isPublished = false;
  return {
    async write(content) {
      const chunk = typeof content === 'string' ? Buffer.from(content) : content;
      // Write at an explicit position, because after a rewind the handle's own position is beyond the end of the
      // file.
      for (let at = 0; at < chunk.length; ) {
        at += (await done(file.write(chunk, at, chunk.length - at, bytes + at))).bytesWritten;
      }
      bytes += chunk.length;
      hash.update(chunk);
    },
    mark: () => ({ bytes, hash: hash.copy() }),
    async rewind(mark) {
      bytes = mark.bytes;
      hash = mark.hash.copy();
      await done(file.truncate(bytes));
    },
    sha256: () => hash.copy().digest('hex'),
    async seal() {
      await done(file.sync());
      await done(file.close());
      state = 'sealed';
    },
    async publish() {
      await done(rename(temporary, path));
      state = 'over';
      isPublished = true;
      await done(syncFolder(dirname(path)));
    },
    get isPublished() {
      return isPublished;
    },
    async discard() {
      if (state === 'over') return;
      // Ignore errors of the clean-up: the first error was reported, and the files may not exist.
      if (state === 'open') await file.close().catch(() => undefined);
      state = 'over';
      await unlink(temporary).catch(() => undefined);
    },
  };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Explanations of system errors that are clearer for a new file than the general description of the error code. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its parent is not a directory',
};

/** Creates the error for a file that a system error makes unwritable. */
export function unwritable(path: string, error: unknown): ExportFailure {
  const why = reasons[systemCode(error) ?? ''] ?? systemWords(error);
  return new ExportFailure('unwritable', `cannot write ${path}: ${why}`);
}
