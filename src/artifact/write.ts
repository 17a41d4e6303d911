import { readFileSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { temporaryFor } from '../ops/temporaries.ts';

/** Default names of the artifacts in the artifact directory. */
export const artifactNames = {
  labels: 'labels-overview.json',
  labelers: 'labelers.ndjson',
  labelerDefinitions: 'labeler-definitions.ndjson',
  labelsHours: 'labels-hours.json',
  weather: 'weather-summary.json',
  weatherHours: 'weather-hours.json',
} as const;

/** Options of `writeArtifact`. */
interface WriteOptions {
  /** Number of spaces by which a level is indented. 0 writes one line. */
  readonly indent?: number;
  /** If present, the artifact is replaced only if this is still its text. */
  readonly replaces?: string;
}

/**
 * Replaces an artifact atomically: writes a temporary file in the same directory, syncs it, renames it, and syncs the
 * directory. A reader sees either the old bytes or the new ones, and so does the next process after a crash. Rejects if
 * any step fails (for example, on a full disk); the old artifact stays in place unless only the last step failed.
 * Returns false if the artifact no longer has the text in `replaces`, and rejects if the artifact no longer exists. A
 * replacement by another process between this check and the rename goes unnoticed.
 */
export async function writeArtifact(
  path: string,
  artifact: object,
  { indent = 1, replaces }: WriteOptions = {},
): Promise<boolean> {
  return replaceFile(
    path,
    (file) => file.writeFile(`${JSON.stringify(artifact, null, indent)}\n`),
    () => replaces === undefined || readFileSync(path, 'utf8') === replaces,
  );
}

/**
 * Replaces a file atomically with the content that `write` produces, in the same steps as `writeArtifact`. Returns false,
 * and leaves the file as it is, if `mayReplace` returns false just before the rename.
 */
async function replaceFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  mayReplace = () => true,
): Promise<boolean> {
  const folder = dirname(path);
  const temporary = join(folder, temporaryFor(basename(path)));
  try {
    await using(await open(temporary, 'wx', 0o644), async (file) => {
      await write(file);
      await file.sync();
    });
    if (!mayReplace()) {
      await unlink(temporary);
      return false;
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {
      // Report only the first error, because the temporary file may not exist.
    });
    throw error;
  }
  await using(await open(folder, 'r'), (handle) => handle.sync());
  return true;
}

async function using(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

/** Size of one write, in bytes. The event loop runs other tasks between two writes. */
const bytesAtOnce = 256 * 1024;

/**
 * Replaces a JSON Lines artifact atomically, as `writeArtifact` does. Takes the lines (without line feeds) one at a
 * time, so that memory does not grow with the file. Returns the number of bytes written.
 */
export async function writeLines(path: string, lines: Iterable<string> | AsyncIterable<string>): Promise<number> {
  let written = 0;
  await replaceFile(path, async (file) => {
    let part = '';
    const write = async (): Promise<void> => {
      const bytes = Buffer.from(part);
      part = '';
      written += bytes.byteLength;
      await file.appendFile(bytes);
    };
    for await (const line of lines) {
      part += `${line}\n`;
      if (part.length >= bytesAtOnce) await write();
    }
    await write();
  });
  return written;
}
