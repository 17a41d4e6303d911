import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { areUnitTests } from './unit-tier.ts';

/** A copy of the project in which one file at a time is changed; the checkout itself is never touched. */
export interface Workspace {
  /** Runs test files. `failed` also covers a run that does not end in time. */
  run(tests: readonly string[]): Promise<'passed' | 'failed'>;
  read(file: string): string;
  write(file: string, text: string): void;
  remove(): void;
}

/** Test files that hang because of a mutant count as failed after this long, in milliseconds. */
const timeoutMs = 300_000;

/** Copies what git tracks, and the changes of the work tree, to a temporary directory. */
export function makeWorkspace(root: string): Workspace {
  const copy = mkdtempSync(join(tmpdir(), 'almanac-mutants-'));
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  for (const file of new Set(listed.stdout.split('\0').filter(Boolean))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    try {
      copyFileSync(join(root, file), join(copy, file));
    } catch {
      // Deleted in the work tree and not committed yet.
    }
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return {
    async run(tests) {
      const config = areUnitTests(tests) ? ['--config', 'vitest.unit.config.ts'] : [];
      const args = ['run', '--bail=1', '--reporter=dot', ...config, ...tests];
      const vitest = spawn(join(root, 'node_modules', '.bin', 'vitest'), args, {
        cwd: copy,
        stdio: 'ignore',
        detached: true,
        env: { ...process.env, CI: 'true' },
      });
      // The whole group: a test that hangs may have started programs.
      const stop = (): void => {
        if (vitest.pid !== undefined) process.kill(-vitest.pid, 'SIGKILL');
      };
      const timer = setTimeout(stop, timeoutMs);
      const [code] = (await once(vitest, 'close')) as [number | null];
      clearTimeout(timer);
      return code === 0 ? 'passed' : 'failed';
    },
    read: (file) => readFileSync(join(copy, file), 'utf8'),
    write: (file, text) => writeFileSync(join(copy, file), text),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}
