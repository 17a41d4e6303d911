import { describe, expect, test } from 'vitest';
import { untrueOn } from '../../harness/pages/page-figures.ts';
import { Samples } from '../../harness/siege/samples.ts';
import { runSiege } from '../../harness/siege/siege.ts';
import { unitLimits } from '../../harness/siege/unit-limits.ts';

/**
 * Runs one minute of `npm run siege`: the built program, within the limits of its unit, with hostile labelers of every
 * kind. Only `npm run siege` itself judges the delay of labels, because the delay depends on the machine.
 */
test('the instrument reads twenty honest labelers completely despite a hundred hostile ones of every kind', async () => {
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
}, 900_000);

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
