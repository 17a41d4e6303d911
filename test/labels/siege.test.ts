import { describe, expect, test } from 'vitest';
import { untrueOn } from '../../harness/pages/page-figures.ts';
import { Samples } from '../../harness/siege/samples.ts';
import { runSiege } from '../../harness/siege/siege.ts';
import { unitLimits } from '../../harness/siege/unit-limits.ts';

/**
 * A minute of what `npm run siege` does for hours: the built program, within the limits of its unit, against hostile
 * labelers of every kind. How late labels were accepted is the script's to judge: it depends on the machine.
 */
test('a hundred hostile labelers of every kind take nothing from twenty honest ones', async () => {
  const { problems, undeserved, crashes, rows } = await runSiege({
    seed: 1,
    hostile: 100,
    honest: 20,
    seconds: 60,
    restarts: 3,
    recoverySeconds: 120,
    labelRate: 20,
    // Of each kind one is established when it turns: in a minute not every new labeler gets its turn.
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

describe('what the siege measures by', () => {
  test('the limits are those of the unit that operators run', () => {
    expect(unitLimits()).toEqual({
      memoryBytes: 1024 ** 3,
      openFiles: 8192,
      nodeOptions: '--max-semi-space-size=4',
    });
  });

  test('the trend of memory is found among noise, and starts do not count', () => {
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
