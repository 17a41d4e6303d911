import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { freePort } from '../../harness/net/ports.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { artifactNames } from '../../src/artifact/write.ts';

const tls = join(root, 'test/fixtures/tls');

/** Starts nginx over a directory of artifacts with the deployed configuration, and returns its port. */
async function startArtifacts(artifacts: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-nginx-'));
  const port = await freePort();
  const config = readFileSync(join(root, 'deploy/nginx/artifacts.conf'), 'utf8')
    .replace(/ *listen \[::\]:.*\n/, '')
    .replace('listen 8443 ', `listen 127.0.0.1:${port} `)
    .replace('/etc/ssl/almanac/artifacts.fullchain.pem', join(tls, 'localhost.cert.pem'))
    .replace('/etc/ssl/almanac/artifacts.key.pem', join(tls, 'localhost.key.pem'))
    .replace('/var/lib/almanac/artifacts', artifacts);
  writeFileSync(join(folder, 'artifacts.conf'), config);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log stderr notice; ${user} events {}
http { access_log off; ${temporary.join(' ')} include ${folder}/artifacts.conf; }`,
  );
  const child = spawn(toolPath('nginx'), ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  for await (const chunk of child.stderr) {
    lines.push(String(chunk));
    if (lines.join('').includes('start worker process ')) return port;
  }
  throw new Error(lines.join(''));
}

const ask = (port: number, path: string, method = 'GET'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });

describe.skipIf(lacks('nginx'))('deploy/nginx/artifacts.conf', () => {
  it('makes the artifacts, and nothing else, available to a facts process on another machine', async () => {
    const folder = artifactFolder();
    onTestFinished(folder.remove);
    const port = await startArtifacts(folder.path);
    expect(await ask(port, `/${artifactNames.labels}`)).toBe(200);
    expect(await ask(port, `/${artifactNames.labels}`, 'PUT')).toBe(403);
    writeFileSync(join(folder.path, 'other.json'), '{}');
    for (const path of ['/', '/other.json', `/${artifactNames.labels}.new`, `/x/${artifactNames.labels}`]) {
      expect(await ask(port, path), path).toBe(404);
    }

    const base = `https://localhost:${port}`;
    const sources = ['--labels-artifact', `${base}/${artifactNames.labels}`];
    sources.push('--weather-artifact', `${base}/${artifactNames.weather}`);
    const env = { NODE_EXTRA_CA_CERTS: join(tls, 'localhost.cert.pem') };
    const facts = startProgramInTest(['facts', '--port', '0', '--poll-seconds', '1', ...sources], { env });
    const { url } = await facts.listening();
    const overview = async () => (await fetch(`${url}/v1/labels/overview`)).text();
    expect(await overview()).toContain('"contract"');
    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    await expect.poll(overview).toContain('"source_held"');
  });
});
