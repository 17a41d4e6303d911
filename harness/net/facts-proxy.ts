import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../process/imports.ts';
import { type ForeignProgram, startForeignInTest } from '../process/program-in-test.ts';
import { toolPath } from '../process/tools.ts';
import { until } from '../process/until.ts';
import { writeNginxConfig } from './nginx.ts';
import { freePort } from './ports.ts';

/** A change to a configuration: each text is replaced by the one next to it. */
export type Changes = readonly (readonly [before: string, after: string])[];

/**
 * Starts a proxy with its configuration in `deploy/` in front of a port of the facts API, without TLS and with the clock
 * of this machine. Resolves with its address, and stops it after the test.
 */
export async function startFactsProxy(proxy: 'nginx' | 'caddy', facts: number, changes: Changes): Promise<string> {
  const port = await freePort();
  const folder = proxy === 'nginx' ? await nginxFolder(port, facts, changes) : await caddyFolder(port, facts, changes);
  const args =
    proxy === 'nginx'
      ? ['-p', folder, '-c', join(folder, 'nginx.conf')]
      : ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const program = startForeignInTest(toolPath(proxy), args, { env });
  const url = `http://127.0.0.1:${port}`;
  await answering(url, program);
  return url;
}

/** Resolves once a program that has just been started responds at a URL, with any status. */
export async function answering(url: string, program: ForeignProgram): Promise<void> {
  let why: unknown = null;
  const answers = async (): Promise<boolean> => {
    program.assertRuns();
    try {
      await (await fetch(`${url}/up`)).body?.cancel();
      return true;
    } catch (error) {
      why = error instanceof Error ? error.cause : error;
      return false;
    }
  };
  await until(`${url} answers`, answers).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${String(why)}; the program said: ${program.said()}`, { cause: error });
  });
}

function changed(text: string, changes: Changes): string {
  return changes.reduce((so, [before, after]) => {
    if (!so.includes(before)) throw new Error(`the configuration does not contain ${before}`);
    return so.replaceAll(before, after);
  }, text);
}

async function nginxFolder(port: number, facts: number, changes: Changes): Promise<string> {
  const folder = writeNginxConfig({ tls: port, plain: await freePort(), facts, account: await freePort() });
  const path = join(folder, 'almanac.conf');
  const plain = readFileSync(path, 'utf8').replaceAll(`:${port} ssl http2;`, `:${port};`);
  writeFileSync(path, changed(plain, changes));
  return folder;
}

async function caddyFolder(port: number, facts: number, changes: Changes): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-caddy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const plain = readFileSync(join(root, 'deploy/caddy/Caddyfile'), 'utf8')
    .replace('{\n\tservers', '{\n\tadmin off\n\tauto_https off\n\tservers')
    .replace('facts.example.org {', `http://127.0.0.1:${port} {`)
    .replace('account.example.org {', `http://127.0.0.1:${await freePort()} {`)
    .replace('{$ALMANAC_FACTS:127.0.0.1:8400}', `127.0.0.1:${facts}`);
  writeFileSync(join(folder, 'Caddyfile'), changed(plain, changes));
  return folder;
}
