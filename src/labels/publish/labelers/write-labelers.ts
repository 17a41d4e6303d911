import { join } from 'node:path';
import { artifactNames, writeLines } from '../../../artifact/write.ts';
import { makeFolder } from '../../../ops/folder.ts';
import type { LabelersArtifact } from './labelers-artifact.ts';

/** Writes both files of the artifact, each atomically, and returns the number of written bytes. */
export async function writeLabelersFiles(folder: string, files: LabelersArtifact): Promise<number> {
  makeFolder(folder);
  const bytes = await writeLines(join(folder, artifactNames.labelers), files.labelers);
  return bytes + (await writeLines(join(folder, artifactNames.labelerDefinitions), files.definitions));
}
