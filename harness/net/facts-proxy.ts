import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderInTest } from '../process/folder.ts';
import { type ForeignProgram, startForeignInTest } from '../process/program-in-test.ts';
import { until } from '../process/until.ts';
import { freePort } from './ports.ts';
import { writeCaddyConfig, writeNginxConfig } from './proxy-config.ts';

/** A change to a configuration: each text is replaced by the one next to it. */
export type Changes = readonly (readonly [before: string, after: string])[];

/**
 * Starts a proxy with its configuration in `deploy/` in front of a port of the facts API, without TLS and with the clock
 * of this machine. Resolves with its address, and stops it after the test.
 */
export async function startFactsProxy(proxy: 'nginx' | 'caddy', facts: number, changes: Changes): Promise<string> {
  const folder = folderInTest();
  const [port, plain, account] = [await freePort(), await freePort(), await freePort()];
  const { command, args, env } =
    proxy === 'nginx'
      ? writeNginxConfig(folder, { tls: port, plain, facts, account })
      : writeCaddyConfig(folder, { facts: `127.0.0.1:${port}`, account: `127.0.0.1:${account}`, ports: { facts } });
  const path = join(folder, proxy === 'nginx' ? 'almanac.conf' : 'Caddyfile');
  const text = readFileSync(path, 'utf8').replaceAll(`:${port} ssl http2;`, `:${port};`);
  writeFileSync(path, changed(text, changes));
  const program = startForeignInTest(command, args, { env });
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
