/**
 * Lays siege to the account surface and prints how honest readers fared:
 *
 *   node scripts/siege-account.ts [--way direct|forwarded|nginx|caddy] [--hostile 1000] [--honest 20] [--seconds 60]
 *     [--hot-rows 200000] [--json]
 *
 * The built program serves a store of its own with a hot account and one of very large labels. `nginx` and `caddy` put the
 * configuration of `deploy/` in front of it. Exits with 1 where an honest request was not answered as documented, where p99
 * is a second or more, or where the service took 500 MB or more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { besiege, hostileKinds, quantile, type Way } from '../test/support/account-siege.ts';
import { siegeTargets, writeSiegeStore } from '../test/support/account-siege-store.ts';
import { freePort } from '../test/support/ports.ts';
import { writeProxyConfig } from '../test/support/proxy-config.ts';

const { values } = parseArgs({
  options: {
    way: { type: 'string', default: 'direct' },
    hostile: { type: 'string', default: '1000' },
    honest: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    'hot-rows': { type: 'string', default: '200000' },
    json: { type: 'boolean', default: false },
  },
});

const maxP99Ms = 1_000;
const maxMb = 500;
const root = new URL('..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'almanac-siege-'));
const children: ChildProcess[] = [];

try {
  process.exitCode = await run();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<number> {
  await writeSiegeStore(folder, Number(values['hot-rows']));
  const direct = values.way === 'direct';
  const service = start(process.execPath, [
    join(root, 'bin', 'almanac.mjs'),
    'account',
    ...['--port', '0', '--store', `sqlite:${join(folder, 'labels')}`, '--data', folder, '--no-handles'],
    ...['--trust-proxy', direct ? '0' : '1'],
  ]);
  const port = await portOf(service);
  const way = await wayTo(port);
  const { answers, peakMb } = await besiege({
    way,
    targets: siegeTargets,
    hostile: Number(values.hostile),
    honest: Number(values.honest),
    pid: service.pid ?? 0,
    stop: AbortSignal.timeout(Number(values.seconds) * 1_000),
  });
  const stopping = performance.now();
  service.kill('SIGTERM');
  await once(service, 'exit');
  const byStatus = Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  );
  const times = answers.map(({ ms }) => ms);
  const figures = {
    way: values.way,
    hostile: Number(values.hostile),
    kinds: Object.keys(hostileKinds).length,
    honest: Number(values.honest),
    answers: answers.length,
    byStatus,
    p50Ms: Math.round(quantile(times, 0.5)),
    p99Ms: Math.round(quantile(times, 0.99)),
    peakMb: Math.round(peakMb),
    stoppedInMs: Math.round(performance.now() - stopping),
    load: Number(loadavg()[0]?.toFixed(1)),
  };
  console.log(values.json ? JSON.stringify(figures) : figures);
  const documented = answers.every(({ status, retryAfter }) => status === 200 || (status === 503 && retryAfter));
  return documented && answers.length > 0 && figures.p99Ms < maxP99Ms && peakMb < maxMb ? 0 : 1;
}

async function wayTo(port: number): Promise<Way> {
  if (values.way === 'direct' || values.way === 'forwarded') return { kind: values.way, port };
  const listen = await freePort();
  const proxy = writeProxyConfig(values.way === 'nginx' ? 'nginx' : 'caddy', folder, {
    listen,
    unused: [await freePort(), await freePort()],
    account: port,
  });
  start(proxy.command, proxy.args, proxy.env);
  await delay(2_000);
  return { kind: 'proxied', port: listen, host: proxy.host, tls: proxy.tls };
}

function start(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  children.push(child);
  return child;
}

async function portOf(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('no output of the service');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return Number(new URL(url).port);
  }
  throw new Error('the service ended before it listened');
}
