import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listenForTest } from '../net/listen.ts';
import { root } from '../process/imports.ts';

/** Downloads from an archive with the programs that its documentation names. */

/**
 * Returns true if a program is missing and its test must be skipped. In CI, a missing program makes the test fail
 * instead.
 */
export function isMissing(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  return process.env.CI === undefined && !folders.some((folder) => existsSync(join(folder, name)));
}

/**
 * Serves the files of an archive, by path, like a plain web server until the test ends. `refuse` may respond to a request
 * itself, and then returns true. Resolves with the URL of the archive and the requested paths.
 */
export async function serveArchive(
  content: ReadonlyMap<string, Buffer>,
  refuse: (count: number, response: ServerResponse) => boolean = () => false,
): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/archive/', '');
    paths.push(path);
    if (refuse(paths.length, response)) return;
    const bytes = content.get(path);
    if (bytes) response.end(bytes);
    else response.writeHead(404).end();
  });
  return { url: `http://127.0.0.1:${(await listenForTest(server)).port}/archive`, paths };
}

/** Runs a program. Resolves with 0 or 1, and with what it printed. */
export function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (error, stdout, stderr) => {
      resolve({ code: error ? 1 : 0, output: stdout + stderr });
    });
  });
}

/** Downloads the tables of a month into a directory with `archive_month.py`. */
export function downloadMonth(url: string, folder: string, month = '2026-11'): ReturnType<typeof run> {
  return run('python3', [join(root, 'examples/archive_month.py'), url, month, folder], root);
}
