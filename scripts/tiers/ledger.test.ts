import { describe, expect, it } from 'vitest';
import { type LedgerRun, ledgerTables, nextLoops, runsIn } from './ledger.ts';

function run(loops: number, changes: Partial<LedgerRun> = {}): LedgerRun {
  return { loops, isPassed: true, seconds: 600, files: 500, secondRuns: 0, failed: [], ...changes };
}

describe('a ledger of runs of the gate', () => {
  it('contains the complete lines of its file', () => {
    const text = `${JSON.stringify(run(0))}\n${JSON.stringify(run(2))}\n{"loops":1,"isPa`;
    expect(runsIn(text)).toEqual([run(0), run(2)]);
    expect(runsIn('')).toEqual([]);
  });

  it('continues with the number of busy loops that has had the fewest runs, and ends', () => {
    expect(nextLoops([], [0, 1, 2], 2)).toBe(0);
    expect(nextLoops([run(0)], [0, 1, 2], 2)).toBe(1);
    expect(nextLoops([run(0), run(0), run(1)], [0, 1, 2], 2)).toBe(2);
    expect(nextLoops([run(0), run(1), run(2), run(0), run(2)], [0, 1, 2], 2)).toBe(1);
    expect(nextLoops([run(0), run(1), run(2), run(0), run(1), run(2)], [0, 1, 2], 2)).toBeNull();
  });

  it('is printed with the runs by load, and each file that ever failed with its rate', () => {
    const failed = [{ file: 'test/a.test.ts', message: 'expected a|b' }];
    const runs = [run(0), run(0, { seconds: 700 }), run(2, { isPassed: false, secondRuns: 1, failed })];
    expect(ledgerTables(runs)).toBe(
      [
        '| busy loops | runs | green | second runs | seconds |',
        '| ---: | ---: | ---: | ---: | --- |',
        '| 0 | 2 | 2 | 0 | 600 to 700 |',
        '| 2 | 1 | 0 | 1 | 600 to 600 |',
        '',
        '| file | failed | last message |',
        '| --- | --- | --- |',
        '| `test/a.test.ts` | 1 of 3 | expected a\\|b |',
      ].join('\n'),
    );
    expect(ledgerTables([run(0)]).endsWith('\n\nNo file failed in 1 runs.')).toBe(true);
  });
});
