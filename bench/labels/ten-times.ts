/**
 * Runs the label instrument at ten times today's network, on both stores: `npm run test:ten-times -- [--scale 1]`. One
 * hour of 7,000 labelers with 160 labels a second on average and bursts of 5,000, while the account page and the
 * overview are requested. `--scale` divides the time, the labelers and the labels alike: with 60, a run takes a minute
 * and proves that the run works, but only the full run has figures for `docs/scale.md`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../src/main/command.ts';

const { values } = parseArgs({ options: { scale: { type: 'string', default: '1' }, stores: { type: 'string' } } });
const scale = Number(values.scale);
if (!(scale >= 1)) throw new Error('--scale must be at least 1');
const scaled = (value: number): string => String(Math.max(1, Math.round(value / scale)));
const done = spawnSync(
  process.execPath,
  [
    join(packageRoot(), 'bench', 'labels', 'rate.ts'),
    ...['--sources', scaled(7_000), '--rate', scaled(160), '--seconds', String(Math.max(40, 3_600 / scale))],
    ...['--burst', scaled(5_000), '--views'],
    ...(values.stores === undefined ? [] : ['--stores', values.stores]),
  ],
  { stdio: 'inherit' },
);
process.exitCode = done.status ?? 1;
