import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** The result of one test file in one run. */
export interface FileResult {
  /** Path relative to the root of the project. */
  readonly file: string;
  /** True if every test of the file passed or was skipped, and no error occurred outside its tests. */
  readonly isPassed: boolean;
  readonly passedTests: number;
  readonly failedTests: number;
  readonly skippedTests: number;
  /** First line of the first error of the file, or null if the file passed. */
  readonly message: string | null;
  /** Time that the tests and hooks of the file took, in milliseconds. */
  readonly tookMs: number;
}

/** The results of one run of Vitest. */
export interface RunResults {
  readonly files: readonly FileResult[];
  /** First line of the first error that belongs to no test file, or null. The run has then failed. */
  readonly strayError: string | null;
}

/** Environment variable with the path of the file to which `FileResults` writes the results as JSON. */
export const resultsVariable = 'ALMANAC_TEST_RESULTS';

/** The properties of Vitest's serialised errors that are read here. */
interface CaughtError {
  readonly message: string;
  /** Test file that was running when an error occurred outside its tests. */
  readonly VITEST_TEST_PATH?: unknown;
}

/**
 * Vitest reporter that writes the result of every test file. Vitest's JSON report does not contain errors outside
 * tests. A file whose process ended has tests without a result, and counts as failed.
 */
export default class FileResults implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly CaughtError[]): void {
    const path = process.env[resultsVariable];
    if (path === undefined) return;
    const found = modules.map((module) => resultOf(module, messageOutside(module, errors)));
    const files = new Set(modules.map(({ moduleId }) => moduleId));
    const stray = errors.find(({ VITEST_TEST_PATH: file }) => typeof file !== 'string' || !files.has(file));
    // A process that ended is an error without a file; its file has tests without a result.
    const isExplained = found.some(({ isPassed }) => !isPassed);
    const results: RunResults = { files: found, strayError: stray && !isExplained ? firstLine(stray.message) : null };
    writeFileSync(path, JSON.stringify(results));
  }
}

function messageOutside({ moduleId }: TestModule, errors: readonly CaughtError[]): string | null {
  const own = errors.find(({ VITEST_TEST_PATH: file }) => file === moduleId);
  return own ? firstLine(own.message) : null;
}

function resultOf(module: TestModule, outside: string | null): FileResult {
  const tests = [...module.children.allTests()];
  const failed = tests.filter((test) => test.result().state === 'failed');
  const unfinished = tests.filter((test) => test.result().state === 'pending');
  const isPassed = module.ok() && unfinished.length === 0 && outside === null && module.state() !== 'pending';
  const [error] = [...module.errors(), ...failed.flatMap((test) => test.result().errors ?? [])];
  const [hook] = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  const message = error?.message ?? hook?.message ?? outside ?? 'the process of the file ended before its tests';
  return {
    file: relative(process.cwd(), module.moduleId),
    isPassed,
    passedTests: tests.filter((test) => test.result().state === 'passed').length,
    failedTests: failed.length + unfinished.length,
    skippedTests: tests.filter((test) => test.result().state === 'skipped').length,
    message: isPassed ? null : firstLine(message),
    tookMs: Math.round(module.diagnostic().duration),
  };
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
