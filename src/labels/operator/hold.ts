import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactNames, writeArtifact } from '../../artifact/write.ts';
import { isObject } from '../../input/json-budget.ts';
import { makeFolder, systemCode, systemWords } from '../../ops/errors.ts';

/** The operator's decision to withhold the label facts. */
interface Hold {
  readonly reason: string;
  /** Time of the decision, RFC 3339. */
  readonly since: string;
}

/**
 * Returns the path of the hold file. The file is next to the artifact, so that a hold can be set while the instrument
 * is stopped.
 */
export function holdPath(artifacts: string): string {
  return join(artifacts, 'labels-hold.json');
}

/** Returns the hold that is set, or null. An unreadable file counts as a hold. */
export async function readHold(artifacts: string): Promise<Hold | null> {
  let text: string;
  try {
    text = await readFile(holdPath(artifacts), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    return { reason: `the hold file cannot be read: ${systemWords(error)}`, since: '' };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.reason === 'string' && typeof value.since === 'string') {
      return { reason: value.reason, since: value.since };
    }
  } catch {
    // Invalid JSON counts as a hold, like an unreadable file.
  }
  return { reason: 'the hold file cannot be read', since: '' };
}

/**
 * Writes an artifact with the current hold. Writes the artifact again if the hold was set or released during the write.
 */
export function writeHeld(artifacts: string, artifactName: string, made: object): Promise<void> {
  return writeWithHold(artifacts, (hold) => writeArtifact(join(artifacts, artifactName), { ...made, hold }));
}

/** Calls `write` with the current hold, and again if the hold was set or released during the write. */
export async function writeWithHold(artifacts: string, write: (hold: boolean) => Promise<unknown>): Promise<void> {
  makeFolder(artifacts);
  const isHeld = async (): Promise<boolean> => (await readHold(artifacts)) !== null;
  let hold = await isHeld();
  for (;;) {
    await write(hold);
    const current = await isHeld();
    if (current === hold) return;
    hold = current;
  }
}

/** Sets the hold for the current artifact and for later ones. */
export async function setHold(artifacts: string, artifactName: string, hold: Hold): Promise<void> {
  makeFolder(artifacts);
  await writeArtifact(holdPath(artifacts), hold);
  await markArtifact(join(artifacts, artifactName), true);
  await markArtifact(join(artifacts, artifactNames.labelsHours), true, hoursIndent);
}

/** Releases the hold. Returns false if there was no hold file and the artifact had no hold. */
export async function releaseHold(artifacts: string, artifactName: string): Promise<boolean> {
  const wasSet = await unlink(holdPath(artifacts)).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === 'ENOENT') return false;
      throw error;
    },
  );
  // Change the artifact even if there is no hold file, to complete a release that failed after it removed the file.
  const wasMarked = await markArtifact(join(artifacts, artifactName), false);
  await markArtifact(join(artifacts, artifactNames.labelsHours), false, hoursIndent);
  return wasSet || wasMarked;
}

/** Indentation of the hours file: none, because an indented file would exceed its maximum size. */
const hoursIndent = 0;

/**
 * Changes the hold of the current artifact without changing its generation time. Returns false if no change is
 * necessary, or if there is no valid artifact. If the instrument replaces the artifact in the meantime, changes the
 * newer one: writing the older one would put an earlier reading back.
 */
async function markArtifact(path: string, hold: boolean, indent = 1): Promise<boolean> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return false;
    const value = parsed(text);
    if (!isObject(value)) return false;
    const isMarked = hold ? value.hold === true : value.hold === undefined || value.hold === false;
    if (isMarked) return false;
    try {
      if (await writeArtifact(path, { ...value, hold }, { indent, replaces: text })) return true;
    } catch (error) {
      // An instrument that starts removes temporary files.
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** Parses JSON. Returns null for an artifact that is not JSON, because such an artifact is never served. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
