import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { slowDisk } from '../../harness/faults/shim.ts';
import { untrueOn } from '../../harness/pages/page-figures.ts';
import { lacks } from '../../harness/process/tools.ts';
import { Samples } from '../../harness/siege/samples.ts';
import { runSiege } from '../../harness/siege/siege.ts';
import { unitLimits } from '../../harness/siege/unit-limits.ts';

/**
 * Runs one minute of `npm run siege`: the built program, within the limits of its unit, with hostile labelers of every
 * kind, on a slow disk. Only `npm run siege` itself judges the delay of labels, because the delay depends on the machine.
 */
test('the instrument reads twenty honest labelers completely despite a hundred hostile labelers of every kind', async () => {
  const { problems, undeserved, crashes, rows } = await runSiege({
    seed: 1,
    hostile: 100,
    honest: 20,
    seconds: 60,
    restarts: 3,
    recoverySeconds: 120,
    labelRate: 20,
    // Let one labeler of each kind be established before it becomes hostile, because some new labelers are not read
    // within a minute.
    lateShare: 0.5,
    floodMegabytesPerSecond: 40,
    diskBudgetMegabytes: 1_000,
    // Use a slow disk, because each commit blocks the instrument until the disk has synced its file.
    syncMs: lacks('cc') ? 0 : 10,
    csv: null,
    readPage: untrueOn,
    onProgress: () => undefined,
  });
  expect({ problems, undeserved, crashes, lost: rows.lost, surplus: rows.surplus }).toEqual({
    problems: [],
    undeserved: [],
    crashes: [],
    lost: 0,
    surplus: 0,
  });
  expect(rows.stored).toBeGreaterThan(1_000);
});

test.skipIf(lacks('cc'))('the slow-disk library delays each fsync', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-slow-disk-'));
  try {
    const sync = 'fs.fsyncSync(fs.openSync(process.argv[1], "w"))';
    const program = `const began = performance.now(); ${sync}; console.log(performance.now() - began)`;
    const options = { env: slowDisk(folder, 200), encoding: 'utf8' } as const;
    const took = execFileSync(process.execPath, ['-e', program, join(folder, 'file')], options);
    expect(Number(took)).toBeGreaterThanOrEqual(200);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('the measurements of the siege', () => {
  test('use the limits of the unit that operators run', () => {
    expect(unitLimits()).toEqual({
      memoryBytes: 1024 ** 3,
      openFiles: 8192,
      nodeOptions: '--max-semi-space-size=4',
    });
  });

  test('find a memory trend in noisy samples, and ignore the growth after a start', () => {
    const samples = new Samples(null);
    for (let at = 0; at < 100; at += 1) {
      const rssMegabytes = at < 20 ? 50 : 200 + at * 0.1 + (at % 2);
      samples.list.push({
        ...{
          atMs: at * 36_000,
          phase: 'attack',
          rssMegabytes,
          peakMegabytes: rssMegabytes,
          cpuSeconds: at,
          stallSeconds: 0,
        },
        ...{ diskMegabytes: 0, openFiles: 0 },
      });
    }
    expect(samples.slope('attack')).toBeCloseTo(10, 0);
    expect(samples.slope('after')).toBeNull();
  });
});
