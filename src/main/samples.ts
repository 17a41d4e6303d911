import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactNames, writeArtifact } from '../artifact/write.ts';
import { formatTimestamp, parseTimestamp } from '../contract/timestamp.ts';
import { packageRoot } from './command.ts';

/** How often the samples are made young again, in milliseconds: well within the freshness bound. */
const refreshMs = 30_000;

/** The bundled sample artifacts, kept young in a folder until they are stopped. */
export interface Samples {
  stop(): Promise<void>;
}

/** Writes both samples as of now, and again every half minute. Each says by its `origin` that it is a sample. */
export async function keepSamplesYoung(
  folder: string,
  clock: () => number,
  failed: (error: unknown) => void,
): Promise<Samples> {
  await mkdir(folder, { recursive: true });
  const write = async (): Promise<void> => {
    for (const name of Object.values(artifactNames)) {
      const sample: unknown = JSON.parse(await readFile(join(packageRoot(), 'assets', 'samples', name), 'utf8'));
      await writeArtifact(join(folder, name), shifted(sample, clock()));
    }
  };
  await write();
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = write().catch(failed);
  }, refreshMs);
  return {
    async stop() {
      clearInterval(timer);
      await writing;
    },
  };
}

/** The artifact with every time moved by as much as makes `generated_at` the given instant (milliseconds since 1970). */
export function shifted(artifact: unknown, now: number): object {
  const generated =
    typeof artifact === 'object' && artifact !== null && 'generated_at' in artifact
      ? parseTimestamp(artifact.generated_at)
      : null;
  if (generated === null || typeof artifact !== 'object' || artifact === null) throw new Error('not a sample artifact');
  return JSON.parse(JSON.stringify(artifact), (_key, value: unknown) => {
    const at = parseTimestamp(value);
    return at === null ? value : formatTimestamp(now + Math.round((at - generated) / 1000));
  }) as object;
}
