/**
 * Compares how fast one reader receives an export from two builds: `node bench/account/export.ts --base DIR
 * [--rows 165000] [--rounds 5] [--store sqlite|postgres] [--profile FOLDER]`. `DIR` is another checkout of this
 * project, with its dependencies and its program built. It must know the schema of the store, so that an earlier one can
 * be compared over a directory only.
 *
 * Both programs serve the same store, whose rows are about one account, and take turns. The reader uses one connection
 * and parses each page. Prints the rate of each build, the processor time per row of the program and of the reader, and
 * the ratios. With `--profile`, each process of this build writes a profile of its processor time on its exit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../harness/postgres/server.ts';
import { temporaryFolder } from '../../harness/process/at-exit.ts';
import { processTree } from '../../harness/process/process-tree.ts';
import type { ExportCreated, ExportPage } from '../../src/contract/account.ts';
import { packageRoot } from '../../src/main/command.ts';
import { openStoreWriter } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';
import { appendDense, denseDid } from '../account-load.ts';
import { ended } from '../processes.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rows: { type: 'string', default: '165000' },
    rounds: { type: 'string', default: '5' },
    store: { type: 'string', default: 'sqlite' },
    profile: { type: 'string' },
  },
});
const now = (): number => Date.now() * 1000;

/** A program under test, with the sums of its exports. */
interface Build {
  readonly name: string;
  readonly child: ChildProcess;
  readonly url: string;
  readonly agent: Agent;
  /** Rows a second of each round. */
  readonly rates: number[];
  rows: number;
  serverMs: number;
  readerMs: number;
}

const { folder, remove } = temporaryFolder('export-bench');
const server = values.store === 'postgres' ? await startPostgres({ durable: false }) : null;
const store = server?.url('bench') ?? `sqlite:${join(folder, 'store')}`;
const builds: Build[] = [];
try {
  const writer = await openStoreWriter(store, { at: micros(now()) });
  await appendDense(writer, Number(values.rows), now);
  await writer.close();
  if (values.base !== undefined) builds.push(await start('base', resolve(values.base)));
  builds.push(await start('this build', packageRoot()));
  // The first export of each program is not measured: it opens files and compiles code.
  for (const build of builds) await follow(build);
  for (const build of builds) Object.assign(build, { rates: [], rows: 0, serverMs: 0, readerMs: 0 });
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const build of round % 2 === 0 ? builds : builds.toReversed()) await follow(build);
  }
  print();
} finally {
  for (const { child, agent } of builds) {
    agent.destroy();
    await ended(child);
  }
  await server?.stop();
  remove();
}

async function start(name: string, root: string): Promise<Build> {
  const args = [
    join(root, 'bin', 'almanac.mjs'),
    ...['account', '--port', '0', '--store', store, '--data', join(folder, name.replace(' ', '-'))],
    ...['--log-level', 'silent', '--readers', '1', '--max-export-rows', '1000000'],
    ...['--client-accounts', '0', '--client-cost', '0', '--client-connections', '0'],
  ];
  if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true });
  const flags = values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', resolve(values.profile)];
  const child = spawn(process.execPath, [...(name === 'base' ? [] : flags), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return { name, child, url, agent, rates: [], rows: 0, serverMs: 0, readerMs: 0 };
  }
  throw new Error(`${name} exited before it listened`);
}

/** Reads one export and adds its figures to a build. */
async function follow(build: Build): Promise<void> {
  const { url, agent, child, rates } = build;
  const created = (await ask(agent, `${url}/exports?did=${denseDid}&days=7`)) as ExportCreated;
  const [serverBefore, readerBefore, began] = [serverCpuMs(child), process.cpuUsage(), performance.now()];
  let rows = 0;
  for (let cursor: string | null = created.cursor; cursor !== null; ) {
    const page = (await ask(agent, `${url}/exports?cursor=${cursor}`)) as ExportPage;
    rows += page.rows.length;
    cursor = page.next_cursor;
  }
  rates.push((rows / (performance.now() - began)) * 1000);
  const { user, system } = process.cpuUsage(readerBefore);
  build.rows += rows;
  build.readerMs += (user + system) / 1000;
  build.serverMs += serverCpuMs(child) - serverBefore;
  if (rows !== Number(values.rows)) throw new Error(`${build.name} exported ${rows} rows`);
}

async function ask(agent: Agent, url: string): Promise<unknown> {
  const [response] = await once(get(url, { agent }), 'response');
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${url} responded with ${response.statusCode}: ${body}`);
  return JSON.parse(body);
}

function serverCpuMs({ pid = 0 }: ChildProcess): number {
  return processTree(pid).cpuSeconds * 1000;
}

function print(): void {
  const median = ({ rates }: Build): number => rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)] ?? 0;
  const rowsOf = (figure: (build: Build) => number): number[] => builds.map(figure);
  const lines: [string, number[]][] = [
    ['rows a second, median of the rounds', rowsOf(median)],
    ['processor time of the program per row, us', rowsOf(({ serverMs, rows }) => (serverMs / rows) * 1000)],
    ['processor time of the reader per row, us', rowsOf(({ readerMs, rows }) => (readerMs / rows) * 1000)],
  ];
  console.log(`${''.padEnd(48)}${builds.map(({ name }) => name.padStart(12)).join('')}       ratio`);
  for (const [name, figures] of lines) {
    const [first = 0, second] = figures;
    const ratio = second === undefined ? '' : (second / first).toFixed(2).padStart(12);
    const shown = figures.map((figure) => figure.toLocaleString('en', { maximumFractionDigits: 2 }).padStart(12));
    console.log(`${name.padEnd(48)}${shown.join('')}${ratio}`);
  }
  for (const { name, rates } of builds) console.log(`# ${name}: ${rates.map((rate) => Math.round(rate)).join(' ')}`);
  console.log(`# load ${loadavg()[0]?.toFixed(1)}`);
}
