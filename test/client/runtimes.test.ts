import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { answering } from '../../harness/net/facts-proxy.ts';
import { freePort } from '../../harness/net/ports.ts';
import { root } from '../../harness/process/imports.ts';
import { startForeignInTest, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { paths } from '../../src/contract/identifiers.ts';

/** The client under each runtime of the table in docs/client.md, which come from the registry of npm. */

const run = promisify(execFile);
const packages = join(root, 'harness', 'packages', 'runtimes');
const folder = mkdtempSync(join(tmpdir(), 'almanac-runtimes-'));
let server: Server;
let base = '';

beforeAll(async () => {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    statSync(join(packages, file), { throwIfNoEntry: false }),
  );
  if (installed === undefined || installed.mtimeMs < (lock?.mtimeMs ?? 0)) {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: packages });
  }
  cpSync(join(root, 'dist', 'client.js'), join(folder, 'client.mjs'));
  cpSync(join(packages, 'read-facts.mjs'), join(folder, 'read-facts.mjs'));
  const shared = "import * as client from './client.mjs';\nimport { outcomes } from './read-facts.mjs';\n";
  writeFileSync(
    join(folder, 'main.mjs'),
    `${shared}console.log(JSON.stringify(await outcomes(client, process.argv[2])));\n`,
  );
  writeFileSync(
    join(folder, 'worker.mjs'),
    `${shared}export default { async fetch(request) {
      const base = new URL(request.url).searchParams.get('base');
      return base === null ? new Response('up') : Response.json(await outcomes(client, base));
    } };\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a server whose responses below `/fresh` are those of the real program. */
async function startServer(): Promise<void> {
  const artifacts = artifactFolder();
  onTestFinished(artifacts.remove);
  const program = startProgramInTest(['facts', '--port', '0', '--artifacts', artifacts.path]);
  const { url } = await program.listening();
  const fresh = Buffer.from(await (await fetch(`${url}${paths.labelsOverview}`)).arrayBuffer());
  const zipped = gzipSync(fresh);
  const json = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=60' };
  server = createServer((request, response) => {
    const [, step = ''] = (request.url ?? '').split('/');
    if (step === 'fresh' && request.headers['if-none-match'] === 'W/"1"') {
      response.writeHead(304, { ETag: 'W/"1"', 'Cache-Control': 'public, max-age=60' }).end();
    } else if (step === 'fresh') response.writeHead(200, { ...json, ETag: 'W/"1"' }).end(fresh);
    else if (step === 'held') {
      response.writeHead(503, { ...json, 'Cache-Control': 'no-store' });
      response.end('{"error":{"status":503,"code":"source_held","message":"Held."}}');
    } else if (step === 'page') response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    else if (step === 'cut') {
      response
        .writeHead(200, { ...json, 'Content-Length': fresh.length })
        .write(fresh.subarray(0, 200), () => response.destroy());
    } else if (step === 'cut-gzip') {
      response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(zipped.subarray(0, zipped.length / 2));
    }
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const expected = {
  first: ['fetched', 'fetched'],
  kept: 'kept',
  again: 'revalidated',
  held: 'refused source_held',
  page: 'answer',
  cut: 'network unreachable',
  silent: 'network timeout',
  aborted: 'TimeoutError',
  unreachable: 'network unreachable',
};

/** Node reports a gzip body that ends early as another error than the others. None takes it for a whole response. */
const ofCutGzip = (name: string): string => (/^Node/.test(name) ? 'answer' : 'network unreachable');

const runtimes: readonly [name: string, version: string, program: string, args: readonly string[]][] = [
  ...[20, 21, 22, 23, 24, 25, 26].map((major): [string, string, string, string[]] => [
    `Node ${major}`,
    `node-${major}`,
    `node-${major}/bin/node`,
    [],
  ]),
  ['Bun', '@oven/bun-linux-x64', '@oven/bun-linux-x64/bin/bun', []],
  ['Deno', '@deno/linux-x64-glibc', '@deno/linux-x64-glibc/deno', ['run', '--allow-net']],
];

/** Returns the rows of the table of runtimes in the documentation: the tested version of each. */
function documented(): Map<string, string> {
  const docs = readFileSync(join(root, 'docs/client.md'), 'utf8');
  const section = docs.split('\n## Runtimes\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ([A-Z]\w+(?: \d+)?|workerd) +\| ([\d.]+) +\|/gm)];
  return new Map(rows.map(([, name = '', version = '']) => [name, version]));
}

/** Starts the program on a runtime, in a copy that has no pinned one. */
async function program(version: string): Promise<string> {
  const own = join(folder, version, 'bin');
  cpSync(join(root, 'bin', 'almanac.mjs'), join(own, 'almanac.mjs'));
  cpSync(join(root, 'dist'), join(folder, version, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, version, 'package.json'));
  const node = join(packages, 'node_modules', version, 'bin', 'node');
  const { stdout, stderr } = await run(node, [join(own, 'almanac.mjs'), '--version']).catch((error: unknown) =>
    error instanceof Error && 'stderr' in error ? { stdout: '', stderr: String(error.stderr) } : Promise.reject(error),
  );
  return `${stdout}${stderr}`.trim();
}

const { dependencies } = JSON.parse(readFileSync(join(packages, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const pinned = (name: string): string | undefined => dependencies[name]?.replace(/.*@/, '');

describe('the client', () => {
  it.each(runtimes)('behaves alike in %s', async (name, versionOf, program, args) => {
    await startServer();
    const { stdout } = await run(join(packages, 'node_modules', program), [...args, join(folder, 'main.mjs'), base]);
    expect(JSON.parse(stdout)).toEqual({ ...expected, cutGzip: ofCutGzip(name) });
    expect(documented().get(name)).toBe(pinned(versionOf));
  });

  it('behaves alike in workerd', async () => {
    await startServer();
    const port = await freePort();
    const modules = ['worker.mjs', 'client.mjs', 'read-facts.mjs'].map(
      (file) => `(name = "${file}", esModule = embed "${file}")`,
    );
    writeFileSync(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (modules = [${modules.join(', ')}], compatibilityDate = "2026-01-01");
`,
    );
    const program = join(packages, 'node_modules', '@cloudflare/workerd-linux-64/bin/workerd');
    const url = `http://127.0.0.1:${port}`;
    await answering(url, startForeignInTest(program, ['serve', join(folder, 'config.capnp')]));
    const response = await fetch(`${url}/?base=${encodeURIComponent(base)}`);
    expect(await response.json()).toEqual({ ...expected, cutGzip: ofCutGzip('workerd') });
    expect(documented().get('workerd')).toBe(pinned('@cloudflare/workerd-linux-64'));
  });
});

describe('the program', () => {
  it.each([20, 21, 22, 23, 24, 25, 26])(
    'runs on Node %s, or names the versions that run it in one line',
    async (major) => {
      const needs = 'almanac: needs Node 22.19 or later of Node 22, or Node 24.6 or later; this is ';
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      const refused = `${needs}${pinned(`node-${major}`)}`;
      expect(await program(`node-${major}`)).toBe([20, 21, 23].includes(major) ? refused : `almanac ${version}`);
    },
  );
});
