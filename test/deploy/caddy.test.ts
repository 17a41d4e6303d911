import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { freePort } from '../../harness/net/ports.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Tests the configuration in `deploy/caddy` in front of the real facts API. */

const file = join(root, 'deploy/caddy/Caddyfile');
const overview = '/v1/labels/overview';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

describe.skipIf(lacks('caddy'))('deploy/caddy/Caddyfile', () => {
  it('is accepted by Caddy, and formatted as `caddy fmt` prints it', () => {
    const run = (...args: string[]) => execFileSync(toolPath('caddy'), args, { encoding: 'utf8', stdio: 'pipe' });
    expect(() => run('validate', '--config', file, '--adapter', 'caddyfile')).not.toThrow();
    expect(run('fmt', file)).toBe(readFileSync(file, 'utf8'));
  });

  it('passes every response through unchanged, logs no query, and responds with an error if the service is not running', async () => {
    const folder = artifactFolder();
    onTestFinished(folder.remove);
    const archive = folderInTest();
    const [day = ''] = writeClosedArchive({
      ...{ before: Date.now(), days: 1 },
      write(path, bytes) {
        mkdirSync(join(archive, dirname(path)), { recursive: true });
        writeFileSync(join(archive, path), bytes);
      },
    });
    const args = ['--artifacts', folder.path, '--archive', archive, '--trust-proxy', '1', '--access-log-clients'];
    const facts = startProgramInTest(['facts', '--port', '0', ...args]);
    const { port } = await facts.listening();
    const { ask, log } = await startCaddy(port);

    const first = await ask(overview);
    const { etag } = first.headers;
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
    expect(first.headers['strict-transport-security']).toBe('max-age=31536000');
    expect([first.headers.vary, first.headers['accept-ranges']]).toEqual(['Accept-Encoding', 'none']);
    expect(await ask(overview, { 'If-None-Match': String(etag) })).toMatchObject({ status: 304, headers: { etag } });
    expect((await ask('/v1/%6Cabels/overview')).status).toBe(404);

    const size = statSync(join(archive, `days/${day}/labels-totals.parquet`)).size;
    const end = await ask(`/archive/days/${day}/labels-totals.parquet`, { Range: 'bytes=-4' });
    expect([end.status, end.headers['content-range'], end.body]).toEqual([
      206,
      `bytes ${size - 4}-${size - 1}/${size}`,
      'PAR1',
    ]);

    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    expect((await ask(overview)).body).toContain('"source_held"');

    await ask('/health?did=did:plc:secret', {
      'X-Forwarded-For': '198.51.100.7',
      Referer: 'https://x.example/?secret',
    });
    const clients = () => facts.log().filter(({ route }) => route === '/health');
    await expect.poll(() => clients().map(({ client }) => client)).toEqual(['127.0.0.1']);

    facts.child.kill('SIGKILL');
    await facts.ended();
    const gone = await ask(`${overview}?did=did:plc:secret`);
    expect([gone.status, gone.headers['cache-control']]).toEqual([503, 'no-store']);
    expect(gone.headers['strict-transport-security']).toBe('max-age=31536000');
    expect(JSON.parse(gone.body)).toMatchObject({ error: { status: 503, code: 'source_unavailable' } });

    // The log has one line per request, including the first requests during startup.
    await until('the log has every request', () => log().filter((line) => line.includes('"request":')).length >= 8);
    expect(log().join('\n')).not.toMatch(/secret|198\.51|"remote_ip"/);
  });
});

/** Starts Caddy without TLS. Replaces the configuration's addresses by local ones, and stops Caddy after the test. */
async function startCaddy(facts: number) {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-caddy-'));
  const [port, account] = [await freePort(), await freePort()];
  const config = readFileSync(file, 'utf8')
    .replace('{\n\tservers', '{\n\tadmin off\n\tauto_https off\n\tservers')
    .replace('facts.example.org {', `http://127.0.0.1:${port} {`)
    .replace('account.example.org {', `http://127.0.0.1:${account} {`)
    .replace('127.0.0.1:8400', `127.0.0.1:${facts}`);
  writeFileSync(join(folder, 'Caddyfile'), config);
  const child = spawn(toolPath('caddy'), ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      }).once('error', reject);
    });
  await until('Caddy answers', () =>
    ask('/up').then(
      () => true,
      () => false,
    ),
  );
  return { ask, log: () => lines };
}
