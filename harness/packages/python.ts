import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../process/imports.ts';

/** Directory of the Python client's package. */
export const pythonClient = join(root, 'clients', 'python');

/**
 * False if Python is missing, so that the tests of the Python client are skipped. Always true in CI, where Python is
 * required.
 */
export const runsPython =
  process.env.CI !== undefined ||
  (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, 'python3')));

/** Runs Python in the directory of the Python client. Resolves with its output and exit code. */
export function runPython(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: pythonClient, env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env } };
    execFile('python3', args, options, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}
