import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { artifactNames } from '../../src/artifact/write.ts';
import { formatTimestamp, parseTimestamp } from '../../src/contract/timestamp.ts';
import { type ArtifactFixture, fixture } from './fixtures.ts';

/** Returns an artifact fixture with every time shifted so that its `generated_at` equals `generatedAt`. */
export function youngArtifact(name: ArtifactFixture, generatedAt = Date.now()): object {
  const artifact = fixture(name);
  const generated = parseTimestamp(artifact.generated_at);
  if (generated === null) throw new Error('the fixture is not an artifact');
  return JSON.parse(JSON.stringify(artifact), (_key, value: unknown) => {
    const at = parseTimestamp(value);
    return at === null ? value : formatTimestamp(generatedAt + Math.round((at - generated) / 1000));
  }) as object;
}

/**
 * Creates a temporary artifact directory with a current fixture of each instrument. The caller removes the directory.
 */
export function artifactFolder() {
  const path = mkdtempSync(join(tmpdir(), 'almanac-artifacts-'));
  const put = (name: string, artifact: object): void => {
    writeFileSync(join(path, `${name}.new`), JSON.stringify(artifact));
    renameSync(join(path, `${name}.new`), join(path, name));
  };
  put(artifactNames.labels, youngArtifact('recent'));
  put(artifactNames.weather, youngArtifact('weather'));
  return { path, put, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Creates a temporary artifact directory that is removed after the test. */
export function artifactFolderInTest(): string {
  const { path, remove } = artifactFolder();
  onTestFinished(remove);
  return path;
}
