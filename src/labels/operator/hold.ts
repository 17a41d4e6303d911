import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeArtifact } from '../../artifact/write.ts';
import { isObject } from '../../input/json-object.ts';
import { systemCode, systemWords } from '../../ops/errors.ts';
import { makeFolder } from '../../ops/folder.ts';

/** A decision of the operator that the label facts are not to be served for now. */
export interface Hold {
  readonly reason: string;
  /** RFC 3339. */
  readonly since: string;
}

/** Path of the hold file: next to the artifact, so that a hold can be set whether the instrument runs or not. */
export function holdPath(artifacts: string): string {
  return join(artifacts, 'labels-hold.json');
}

/** Reads the hold that is set, or null. An unreadable file counts as a hold. */
export async function readHold(artifacts: string): Promise<Hold | null> {
  let text: string;
  try {
    text = await readFile(holdPath(artifacts), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    return { reason: `the hold cannot be read: ${systemWords(error)}`, since: '' };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.reason === 'string' && typeof value.since === 'string') {
      return { reason: value.reason, since: value.since };
    }
  } catch {
    // Said below.
  }
  return { reason: 'the hold cannot be read', since: '' };
}

/**
 * Writes an artifact as the operator wants it served: a hold that was set or released while it was made is what it says,
 * and one that changes while it is written is met by writing it again.
 */
export async function writeHeld(artifacts: string, artifactName: string, made: object): Promise<void> {
  makeFolder(artifacts);
  const isHeld = async (): Promise<boolean> => (await readHold(artifacts)) !== null;
  let hold = await isHeld();
  for (;;) {
    await writeArtifact(join(artifacts, artifactName), { ...made, hold });
    const wanted = await isHeld();
    if (wanted === hold) return;
    hold = wanted;
  }
}

/** Sets the hold, for the instrument's next artifact and for the one that stands. */
export async function setHold(artifacts: string, artifactName: string, hold: Hold): Promise<void> {
  makeFolder(artifacts);
  await writeArtifact(holdPath(artifacts), hold);
  await markArtifact(join(artifacts, artifactName), true);
}

/** Releases the hold; false when there was none, neither in its file nor on the artifact. */
export async function releaseHold(artifacts: string, artifactName: string): Promise<boolean> {
  const wasSet = await unlink(holdPath(artifacts)).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === 'ENOENT') return false;
      throw error;
    },
  );
  // Also without a file: a release that failed between the two is completed by the next one.
  const wasMarked = await markArtifact(join(artifacts, artifactName), false);
  return wasSet || wasMarked;
}

/** The artifact that stands keeps its time: it is the old reading, held or not. False where it needs no change. */
async function markArtifact(path: string, hold: boolean): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  });
  const value = text === null ? null : parsed(text);
  if (!isObject(value)) return false;
  const isMarked = hold ? value.hold === true : value.hold === undefined || value.hold === false;
  if (isMarked) return false;
  await writeArtifact(path, { ...value, hold });
  return true;
}

/** Null for an artifact that is no JSON: it is not served, held or not. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
