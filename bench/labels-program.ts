import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sim, SimAddresses } from '../sim/index.ts';
import { openSqliteReader } from '../src/store/sqlite/read/reader.ts';
import { ended } from './processes.ts';

const program = fileURLToPath(new URL('../bin/almanac.mjs', import.meta.url));

/** The label instrument running on its own core, with its own store. */
interface LabelProgram {
  readonly folder: string;
  /** Returns the value of a counter or gauge of the instrument, summed over its dimensions. */
  metric(name: string): Promise<number>;
  /** Returns the peak resident memory of the instrument, in MB. */
  peakMb(): number;
  /** Stops the instrument and keeps its store. */
  stop(): Promise<void>;
  remove(): void;
}

/**
 * Starts `almanac labels` on a core with a simulated network, and waits until it has opened a stream to each labeler.
 */
export async function startLabels(core: number, sim: Sim, addresses: SimAddresses): Promise<LabelProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const port = await freePort();
  const args = [
    ...['labels', '--store', `sqlite:${join(folder, 'store')}`, '--artifacts', join(folder, 'artifacts')],
    ...['--plc', addresses.plc ?? '', '--jetstream', addresses.jetstream, '--seeds', addresses.seeds ?? ''],
    ...['--relay', addresses.relays[0] ?? '', '--allow-loopback', '--min-free-megabytes', '0'],
    ...['--metrics-port', String(port), '--publish-seconds', '60', '--log-level', 'warn'],
  ];
  const child = spawn('taskset', ['-c', String(core), process.execPath, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  };
  while (sim.labelers.list.some(({ streams }) => streams.length === 0)) await pause(50);
  return {
    folder,
    metric,
    peakMb: () => peakMb(child),
    stop: () => ended(child),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the acceptance times of the oldest 500 rows of each account, in microseconds, keyed by `rowKey`. */
export async function acceptedAt(folder: string, accounts: Iterable<string>): Promise<Map<string, number>> {
  const store = openSqliteReader(join(folder, 'store'));
  const found = new Map<string, number>();
  try {
    const { floor: start, end } = await store.frontier();
    for (const account of accounts) {
      const { rows } = await store.readAccount({ account, start, end, order: 'oldest', after: null, limit: 500 });
      for (const { label, observedAt } of rows) found.set(rowKey(label), observedAt);
    }
  } finally {
    await store.close();
  }
  return found;
}

/** Returns the key that identifies a label of the simulation. */
export function rowKey(label: unknown): string {
  const { src, uri, val, neg = false, cts } = label as Readonly<Record<string, unknown>>;
  return JSON.stringify([src, uri, val, neg, cts]);
}

/** Waits for a number of milliseconds of the wall clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function peakMb({ pid = 0 }: ChildProcess): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
