import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunRequest } from './test-runner.ts';

/** A copy of the project in which one file is changed at a time. The checkout itself stays unchanged. */
interface Workspace {
  /** Runs test files. Resolves with `ended` if the process exits or the run exceeds its timeout. */
  run(tests: readonly string[]): Promise<'passed' | 'failed' | 'ended'>;
  read(file: string): string;
  write(file: string, text: string): void;
  remove(): void;
}

/** Timeout of one run of test files, in milliseconds. */
const timeoutMs = 90_000;
/** Maximum number of runs per test process. The limit is needed because the memory of the process grows. */
const maxRuns = 100;

/** Copies all files that git does not ignore, including uncommitted changes, to a temporary directory. */
export function makeWorkspace(root: string): Workspace {
  const copy = mkdtempSync(join(tmpdir(), 'almanac-mutants-'));
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  for (const file of new Set(listed.stdout.split('\0').filter(Boolean))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    try {
      copyFileSync(join(root, file), join(copy, file));
    } catch {
      // Skip a file that is deleted in the work tree, although the deletion is not committed.
    }
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  let runner: ChildProcess | null = null;
  let runs = 0;
  const changed = new Set<string>();

  /** Stops the whole process group, because a hanging test may have started other programs. */
  function stop(): void {
    if (runner?.pid !== undefined) process.kill(-runner.pid, 'SIGKILL');
    runner = null;
  }

  async function started(): Promise<ChildProcess> {
    if (runner !== null && runs < maxRuns) return runner;
    stop();
    runs = 0;
    runner = fork(join(copy, 'scripts', 'mutants', 'test-runner.ts'), {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
      env: { ...process.env, CI: 'true' },
    });
    await once(runner, 'message');
    return runner;
  }

  return {
    async run(tests) {
      const process = await started();
      runs += 1;
      const request: RunRequest = { tests, changed: [...changed] };
      changed.clear();
      process.send(request);
      const answer = await answerOf(process);
      if (answer === null) {
        stop();
        return 'ended';
      }
      return answer === 'passed' ? 'passed' : 'failed';
    },
    read: (file) => readFileSync(join(copy, file), 'utf8'),
    write(file, text) {
      writeFileSync(join(copy, file), text);
      changed.add(file);
    },
    remove() {
      stop();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

/** Returns the response of the process, or null if the process exits or hangs. */
function answerOf(process: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    const settle = (answer: unknown): void => {
      clearTimeout(timer);
      process.off('message', settle).off('exit', ended);
      resolve(answer);
    };
    const ended = (): void => settle(null);
    const timer = setTimeout(ended, timeoutMs);
    process.once('message', settle).once('exit', ended);
  });
}
