import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunResults, resultsVariable } from './file-results.ts';

/** Options for one run of Vitest. */
interface RunOptions {
  /** Names of the tiers. */
  readonly tiers: readonly string[];
  /** Test files of these tiers; an empty list means all of them. */
  readonly files?: readonly string[];
  /** Directory with Vitest's configuration; the project by default. */
  readonly root?: string;
  /** False to print nothing. */
  readonly prints?: boolean;
}

const project = join(import.meta.dirname, '..', '..');

/**
 * Runs test files and prints Vitest's report. Returns the result of each file. The run has a stray error if Vitest ends
 * without results or with an unexplained exit code, or if one of `files` did not run.
 */
export function runFiles({ tiers, files = [], root = project, prints = true }: RunOptions): RunResults {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-results-'));
  const path = join(directory, 'results.json');
  const words = [
    join(project, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...tiers.flatMap((tier) => ['--project', tier]),
    '--reporter=default',
    `--reporter=${join(import.meta.dirname, 'file-results.ts')}`,
    ...files,
  ];
  const output = prints ? 'inherit' : 'ignore';
  try {
    const { status, signal } = spawnSync(process.execPath, words, {
      cwd: root,
      stdio: ['ignore', output, output],
      env: { ...process.env, [resultsVariable]: path },
    });
    return checked(readResults(path), files, String(signal ?? status));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function checked(results: RunResults | null, files: readonly string[], ending: string): RunResults {
  if (results === null) return { files: [], strayError: `Vitest ended without results (${ending})` };
  const missing = files.find((file) => !results.files.some((result) => result.file === file));
  if (missing !== undefined) return { ...results, strayError: `${missing} did not run` };
  const isRed = results.strayError !== null || results.files.some(({ isPassed }) => !isPassed);
  return ending === '0' || isRed ? results : { ...results, strayError: `Vitest ended with ${ending}` };
}

function readResults(path: string): RunResults | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunResults;
  } catch {
    return null;
  }
}
