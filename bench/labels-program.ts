import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../harness/net/ports.ts';
import { killAtExit } from '../harness/process/at-exit.ts';
import { memoryMib } from '../harness/process/process-tree.ts';
import type { Sim, SimAddresses } from '../sim/index.ts';
import { labelKey } from '../sim/labelers/truth.ts';
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
  killAtExit(child);
  await once(child.stdout, 'data');
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  };
  while (sim.labelers.list.some(({ streams }) => streams.length === 0)) await setTimeout(50);
  return {
    folder,
    metric,
    peakMb: () => memoryMib(child.pid, 'VmHWM'),
    stop: () => ended(child),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the acceptance times of the oldest 500 rows of each account, in microseconds, keyed by `labelKey`. */
export async function acceptedAt(folder: string, accounts: Iterable<string>): Promise<Map<string, number>> {
  const store = openSqliteReader(join(folder, 'store'));
  const found = new Map<string, number>();
  try {
    const { floor: start, end } = await store.frontier();
    for (const account of accounts) {
      const { rows } = await store.readAccount({ account, start, end, order: 'oldest', after: null, limit: 500 });
      for (const { label, observedAt } of rows) found.set(labelKey(label), observedAt);
    }
  } finally {
    await store.close();
  }
  return found;
}
