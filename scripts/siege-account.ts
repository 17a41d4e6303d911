/**
 * Runs a siege of the account surface and prints the results of honest readers:
 *
 * node scripts/siege-account.ts [--way direct|forwarded|nginx|caddy] [--hostile 1000] [--honest 20] [--seconds 60]
 * [--hot-rows 200000] [--json]
 *
 * The built program serves a new store with a hot account and an account with very large labels. With `nginx` or
 * `caddy`, that server runs in front of the program with the configuration in `deploy/`. The figures include the
 * processor time of the clients and of the service per second, and the delays of the clients' event loop, which affect
 * the times of honest clients. `--details` prints responses by path and the metrics of the service, and `--profile DIR`
 * writes a processor profile of the service. Exits with 1 if an honest request did not get the documented response, if
 * the 99th percentile of the response times is a second or more, or if the service used 500 MB or more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  besiege,
  type HonestAnswer,
  hostileKinds,
  quantile,
  unitEnvironment,
  type Way,
} from '../harness/accounts/account-siege.ts';
import { siegeTargets, writeSiegeStore } from '../harness/accounts/account-siege-store.ts';
import { freePort } from '../harness/net/ports.ts';
import { writeAccountProxy } from '../harness/net/proxy-config.ts';
import { temporaryFolder } from '../harness/process/at-exit.ts';
import { processTree } from '../harness/process/process-tree.ts';

const { values } = parseArgs({
  options: {
    way: { type: 'string', default: 'direct' },
    hostile: { type: 'string', default: '1000' },
    honest: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    'hot-rows': { type: 'string', default: '200000' },
    json: { type: 'boolean', default: false },
    details: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});

const maxP99Ms = 1_000;
const maxMb = 500;
const root = new URL('..', import.meta.url).pathname;
const { folder, remove } = temporaryFolder('siege');
const children: ChildProcess[] = [];

try {
  process.exitCode = await run();
} finally {
  // Use SIGTERM, because nginx's worker would keep running if its master process were killed.
  for (const child of children) child.kill('SIGTERM');
  remove();
}

async function run(): Promise<number> {
  await writeSiegeStore(folder, Number(values['hot-rows']));
  const direct = values.way === 'direct';
  const metricsPort = values.details ? await freePort() : null;
  const service = start(
    process.execPath,
    [
      ...(values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', values.profile]),
      join(root, 'bin', 'almanac.mjs'),
      'account',
      ...['--port', '0', '--store', `sqlite:${join(folder, 'labels')}`, '--data', folder, '--no-handles'],
      ...['--trust-proxy', direct ? '0' : '1'],
      ...(metricsPort === null ? [] : ['--metrics-port', String(metricsPort)]),
    ],
    unitEnvironment,
  );
  const port = await portOf(service);
  const way = await wayTo(port);
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const before = process.cpuUsage();
  const serviceBefore = processTree(service.pid ?? 0).cpuSeconds;
  const { answers, peakMb } = await besiege({
    way,
    targets: siegeTargets,
    hostile: Number(values.hostile),
    honest: Number(values.honest),
    pid: service.pid ?? 0,
    stop: AbortSignal.timeout(Number(values.seconds) * 1_000),
  });
  const { user, system } = process.cpuUsage(before);
  const clientsCpu = (user + system) / 1e6 / Number(values.seconds);
  const serviceCpu = (processTree(service.pid ?? 0).cpuSeconds - serviceBefore) / Number(values.seconds);
  if (metricsPort !== null) await printDetails(answers, metricsPort);
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
    clientsCpu: Number(clientsCpu.toFixed(2)),
    serviceCpu: Number(serviceCpu.toFixed(2)),
    clientDelayP99Ms: Math.round(delays.percentile(99) / 1e6),
    load: Number(loadavg()[0]?.toFixed(1)),
  };
  console.log(values.json ? JSON.stringify(figures) : figures);
  const documented = answers.every(({ status, retryAfter }) => status === 200 || (status === 503 && retryAfter));
  return documented && answers.length > 0 && figures.p99Ms < maxP99Ms && peakMb < maxMb ? 0 : 1;
}

/** Prints the numbers and times of responses by path and status, and the metrics of the account surface. */
async function printDetails(answers: readonly HonestAnswer[], metricsPort: number): Promise<void> {
  for (const [what, some] of Map.groupBy(answers, ({ path, status }) => `${path} ${status}`)) {
    const ms = some.map((one) => one.ms);
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => Math.round(quantile(ms, share)));
    console.log(`${what}: ${some.length} responses, p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms`);
  }
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  console.log(
    metrics
      .split('\n')
      .filter((line) => /^almanac_account_/.test(line))
      .join('\n'),
  );
}

async function wayTo(port: number): Promise<Way> {
  if (values.way === 'direct' || values.way === 'forwarded') return { kind: values.way, port };
  const listen = await freePort();
  const proxy = writeAccountProxy(values.way === 'nginx' ? 'nginx' : 'caddy', folder, {
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
  if (!child.stdout) throw new Error('the service has no stdout');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return Number(new URL(url).port);
  }
  throw new Error('the service exited before it listened');
}
