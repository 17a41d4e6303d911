/**
 * Writes the files of a release into an empty directory: `npm run release -- --out DIR`. `--draft` allows uncommitted
 * changes and a changelog without a date, and `--without-python` omits the wheel. Publishes nothing.
 */

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/main/command.ts';
import { ReleaseError, writeRelease } from './packages/release.ts';

const { values } = parseArgs({
  options: { out: { type: 'string' }, draft: { type: 'boolean' }, 'without-python': { type: 'boolean' } },
});
try {
  if (values.out === undefined) throw new ReleaseError('--out DIR is required');
  const names = writeRelease({
    root: packageRoot(),
    out: resolve(values.out),
    draft: values.draft === true,
    python: values['without-python'] !== true,
  });
  for (const name of names) console.log(name);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
