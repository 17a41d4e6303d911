import { describe, expect, it } from 'vitest';
import type { FileResult, RunResults } from './file-results.ts';
import { filesToRepeat, judgeProofs } from './proof-verdict.ts';

function result(file: string, message: string | null = null): FileResult {
  const isPassed = message === null;
  return {
    file,
    isPassed,
    passedTests: isPassed ? 3 : 2,
    failedTests: isPassed ? 0 : 1,
    skippedTests: 0,
    message,
    tookMs: 1,
  };
}

function run(...files: FileResult[]): RunResults {
  return { files, strayError: null };
}

describe('the verdict on a run of the proof tier', () => {
  it('is green without a second run if every file passed', () => {
    const first = run(result('a'), result('b'));
    expect(filesToRepeat(first)).toEqual([]);
    expect(judgeProofs(first, [])).toEqual({
      isPassed: true,
      lines: ['proofs: 2 files, 0 of them failed in the first run', '6 passed, 0 failed, 0 skipped'],
    });
  });

  it('is green if each of two failed files passed alone, and reports both with their first messages', () => {
    const first = run(result('a', 'too late'), result('b', 'no answer'), result('c'));
    expect(filesToRepeat(first)).toEqual(['a', 'b']);
    expect(judgeProofs(first, [result('a'), result('b')])).toEqual({
      isPassed: true,
      lines: [
        'second run: a: first too late; then passed',
        'second run: b: first no answer; then passed',
        'proofs: 3 files, 2 of them failed in the first run',
        '9 passed, 0 failed, 0 skipped',
      ],
    });
  });

  it('is red if a file failed twice', () => {
    const first = run(result('a', 'too late'), result('b'));
    expect(judgeProofs(first, [result('a', 'still late')])).toEqual({
      isPassed: false,
      lines: [
        'second run: a: first too late; then failed: still late',
        'proofs: 2 files, 1 of them failed in the first run',
        '5 passed, 1 failed, 0 skipped',
      ],
    });
  });

  it('is red if a failed file has no second result', () => {
    expect(judgeProofs(run(result('a', 'too late'), result('b')), []).isPassed).toBe(false);
  });

  it('is red without a second run if three files failed', () => {
    const first = run(result('a', '1'), result('b', '2'), result('c', '3'));
    expect(filesToRepeat(first)).toEqual([]);
    expect(judgeProofs(first, [result('a'), result('b'), result('c')])).toEqual({
      isPassed: false,
      lines: [
        '3 files failed; at most 2 may run a second time',
        'failed: a: 1',
        'failed: b: 2',
        'failed: c: 3',
        'proofs: 3 files, 3 of them failed in the first run',
        '9 passed, 0 failed, 0 skipped',
      ],
    });
  });

  it('is red if an error belongs to no file, or if no test ran', () => {
    const stray: RunResults = { files: [result('a')], strayError: 'unhandled' };
    expect(filesToRepeat(stray)).toEqual([]);
    expect(judgeProofs(stray, []).isPassed).toBe(false);
    expect(judgeProofs(run(), []).isPassed).toBe(false);
  });
});
