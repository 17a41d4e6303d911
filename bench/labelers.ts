/**
 * Measures the pages about labelers: `node bench/labelers.ts [--labelers 700,5000]`.
 *
 *  1. The real server with each number of labelers: processor time per page of the list and per page of one labeler,
 *     and the number of bytes of the first load.
 *  2. The longest turn of the event loop while this process reads and prepares an artifact of the maximum size.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type LabelerFixture, labelerFixture, putLabelers } from '../harness/artifacts/labelers.ts';
import { processTree } from '../harness/process/process-tree.ts';
import { LabelersSource } from '../src/artifact/labelers/labelers-source.ts';
import { artifactNames } from '../src/artifact/write.ts';
import { prepareCatalogue } from '../src/facts/labelers/catalogue.ts';
import { packageRoot } from '../src/main/command.ts';
import { ended } from './processes.ts';
import { row } from './stats.ts';

const { values } = parseArgs({ options: { labelers: { type: 'string', default: '700,5000' } } });
/** Target for the processor time per page in milliseconds, by the number of labelers. */
const targetMs = (labelers: number): number => (labelers <= 700 ? 5 : 20);

function report(name: string, figure: string, target = ''): void {
  console.log(row([name, figure, target, `load ${loadavg()[0]?.toFixed(1)}`], [60, -16, -16, 0]));
}

/**
 * Requests paths one after another. Returns the server's processor time per request, in milliseconds. Rejects if a
 * response has a status other than 200.
 */
async function perRequest(pid: number, url: string, paths: readonly string[]): Promise<number> {
  const before = processTree(pid).cpuSeconds;
  for (const path of paths) {
    const response = await fetch(url + path, { headers: { 'Accept-Encoding': 'br' } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} responded with ${response.status}`);
  }
  return ((processTree(pid).cpuSeconds - before) * 1000) / paths.length;
}

async function measurePages(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const fixture = labelerFixture({ count });
  putLabelers({ path: folder }, fixture);
  const bin = join(packageRoot(), 'bin', 'almanac.mjs');
  const child = spawn(process.execPath, [bin, 'facts', '--port', '0', '--artifacts', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  const pid = child.pid ?? 0;
  while ((await fetch(`${url}/labelers.json`)).status !== 200) await setTimeout(50);
  const { lists, labelers } = pathsOf(fixture);
  await perRequest(pid, url, [...lists, ...labelers].slice(0, 200));
  const target = `target ${targetMs(count)} ms`;
  report(`list with a query, ${count} labelers`, `${(await perRequest(pid, url, lists)).toFixed(1)} ms`, target);
  report(`one labeler, ${count} labelers`, `${(await perRequest(pid, url, labelers)).toFixed(1)} ms`, target);
  report(`first load, ${count} labelers`, `${await firstLoadBytes(url)} bytes`, 'target 50000');
  await ended(child);
  rmSync(folder, { recursive: true });
}

/** Returns the paths of the list with different queries, and the paths of different labelers. */
function pathsOf({ labelers }: LabelerFixture) {
  const lists = Array.from({ length: 400 }, (_, at) => `/labelers?q=labeler-${at % 7}&sort=name&page=${1 + (at % 9)}`);
  return { lists, labelers: labelers.slice(-400).map(({ did }) => `/labelers/${did}`) };
}

async function firstLoadBytes(url: string): Promise<number> {
  let bytes = 0;
  for (const path of ['/labelers', '/assets/almanac.css', '/assets/observatory.css', '/assets/labelers.css']) {
    const response = await fetch(url + path, { headers: { 'Accept-Encoding': 'br' } });
    await response.arrayBuffer();
    // Count the headers as well: their names and values, with the separators.
    bytes += Number(response.headers.get('Content-Length'));
    for (const [name, value] of response.headers) bytes += name.length + value.length + 4;
  }
  return bytes;
}

/** Measures each turn of the event loop in processor time, which other processes of the machine do not affect. */
function watchTurns() {
  let longest = 0;
  let watching = true;
  let before = process.threadCpuUsage();
  const turn = (): void => {
    const used = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (used.user + used.system) / 1000);
    if (watching) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    /** Stops measuring, and returns the processor time of the longest turn, in milliseconds. */
    stop(): number {
      watching = false;
      return longest;
    },
  };
}

async function measureReading(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  putLabelers({ path: folder }, labelerFixture({ count: 5_000, longest: true }));
  globalThis.gc?.();
  const path = (name: string): string => join(folder, name);
  for (const round of ['first', 'second', 'third']) {
    const source = new LabelersSource({
      from: { labelers: path(artifactNames.labelers), definitions: path(artifactNames.labelerDefinitions) },
      prepare: () => prepareCatalogue(() => undefined),
      pollMs: 60_000,
      firstReadingMs: 60_000,
      monotonic: () => performance.now(),
      failed: (error) => console.error(error),
    });
    const cpu = process.cpuUsage();
    const turns = watchTurns();
    await source.start();
    const longest = turns.stop();
    const { user, system } = process.cpuUsage(cpu);
    const reading = source.read();
    if (reading.kind !== 'readable') throw new Error(`the artifact is not readable: ${reading.why}`);
    report(`longest turn, ${round} reading of 15 + 31 MB`, `${longest.toFixed(1)} ms`, 'target 10 ms');
    report(`processor time, ${round} reading`, `${((user + system) / 1000).toFixed(0)} ms`);
    await source.stop();
  }
  rmSync(folder, { recursive: true });
}

if (values.labelers !== '') for (const count of values.labelers.split(',')) await measurePages(Number(count));
await measureReading();
