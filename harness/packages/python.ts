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

const outcomesScript = `
import os, time
from almanac_client import ClientError, FactsClient
ahead = float(os.environ["AHEAD"])
client = FactsClient(os.environ["ALMANAC_URL"], now=lambda: time.time() + ahead)
for ask in (client.labels_overview, client.weather_conditions, client.weather_metrics):
    try:
        print(ask().via)
    except ClientError as error:
        print(getattr(error, "code", error))
`;

/**
 * Asks a service for each fact with the Python client, whose clock is `ahead` seconds ahead. Returns how each reading was
 * obtained (`via`), or the code of its error. Rejects if the program fails.
 */
export async function outcomesInPython(url: string, ahead: number): Promise<string[]> {
  const { code, stdout, stderr } = await runPython(['-c', outcomesScript], { ALMANAC_URL: url, AHEAD: String(ahead) });
  if (code !== 0 || stderr !== '') throw new Error(`the Python client failed (${code}): ${stderr}`);
  return stdout.trim().split('\n');
}
