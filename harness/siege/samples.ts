import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds, memoryMib } from '../process/process-tree.ts';

/** State of a process and its store at one time. */
interface Sample {
  readonly atMs: number;
  readonly phase: string;
  readonly rssMegabytes: number;
  /** Peak resident set size of the process so far, in megabytes. */
  readonly peakMegabytes: number;
  /** Processor time so far, in seconds. */
  readonly cpuSeconds: number;
  /** Longest stall of the event loop since the previous sample in seconds, or null if the process did not respond. */
  readonly stallSeconds: number | null;
  readonly diskMegabytes: number;
  readonly openFiles: number;
}

const columns = ['at', 'phase', 'rss_mb', 'peak_mb', 'cpu_s', 'stall_s', 'disk_mb', 'open_files'] as const;

/** Collects samples of a process, and writes them to a CSV file if a path is given. */
export class Samples {
  readonly list: Sample[] = [];
  readonly #csv: string | null;

  constructor(csv: string | null) {
    this.#csv = csv;
    if (csv !== null) writeFileSync(csv, `${columns.join()}\n`);
  }

  /** Takes a sample unless the process has exited. */
  async take(pid: number | null, phase: string, store: string, metricsPort: number): Promise<void> {
    if (pid === null) return;
    const status = readProcess(pid);
    if (status === null) return;
    const sample: Sample = {
      atMs: Date.now(),
      phase,
      ...status,
      diskMegabytes: bytesUnder(store) / 1e6,
      stallSeconds: await stall(metricsPort),
    };
    this.list.push(sample);
    if (this.#csv === null) return;
    const { atMs, rssMegabytes, peakMegabytes, cpuSeconds, stallSeconds, diskMegabytes, openFiles } = sample;
    const cells = [
      new Date(atMs).toISOString(),
      phase,
      rssMegabytes.toFixed(1),
      peakMegabytes.toFixed(1),
      cpuSeconds.toFixed(2),
      stallSeconds?.toFixed(3) ?? '',
      diskMegabytes.toFixed(1),
      openFiles,
    ];
    appendFileSync(this.#csv, `${cells.join()}\n`);
  }

  /** Maximum resident set size, in megabytes. */
  get maxRss(): number {
    return Math.max(0, ...this.list.map(({ peakMegabytes }) => peakMegabytes));
  }

  /** The maximum size of the store, in megabytes. */
  get maxDisk(): number {
    return Math.max(0, ...this.list.map(({ diskMegabytes }) => diskMegabytes));
  }

  /** Longest stall in seconds. A process that did not respond counts as stalled for five seconds. */
  get maxStall(): number {
    return Math.max(0, ...this.list.map(({ stallSeconds }) => stallSeconds ?? 5));
  }

  /** Returns the processor seconds per second of wall time during a phase. */
  cpuShare(phase: string): number {
    const all = this.list.filter((sample) => sample.phase === phase);
    let [cpu, wall] = [0, 0];
    for (const [at, sample] of all.entries()) {
      const before = all[at - 1];
      // Skip the difference to a lower value, which belongs to a new process.
      if (before === undefined || sample.cpuSeconds < before.cpuSeconds) continue;
      cpu += sample.cpuSeconds - before.cpuSeconds;
      wall += (sample.atMs - before.atMs) / 1000;
    }
    return wall === 0 ? 0 : cpu / wall;
  }

  /**
   * Returns the trend of the resident set size during a phase in megabytes per hour, by least squares. Returns null if
   * there are too few samples.
   */
  slope(phase: string): number | null {
    const all = this.list.filter((sample) => sample.phase === phase);
    // Exclude the memory growth at the start of the phase.
    const rest = all.slice(Math.floor(all.length / 4));
    if (rest.length < 5) return null;
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [x, y] = [mean(rest.map(({ atMs }) => atMs)), mean(rest.map(({ rssMegabytes }) => rssMegabytes))];
    let [above, below] = [0, 0];
    for (const { atMs, rssMegabytes } of rest) {
      above += (atMs - x) * (rssMegabytes - y);
      below += (atMs - x) ** 2;
    }
    return below === 0 ? null : (above / below) * 3_600_000;
  }
}

/** Reads memory, processor time and open files of a process from /proc. Returns null if the process has exited. */
function readProcess(pid: number): Pick<Sample, 'rssMegabytes' | 'peakMegabytes' | 'cpuSeconds' | 'openFiles'> | null {
  try {
    return {
      rssMegabytes: memoryMib(pid, 'VmRSS'),
      peakMegabytes: memoryMib(pid, 'VmHWM'),
      cpuSeconds: cpuSeconds(pid),
      openFiles: readdirSync(`/proc/${pid}/fd`).length,
    };
  } catch {
    return null;
  }
}

/** Returns the total size of the files below a directory. */
export function bytesUnder(folder: string): number {
  let bytes = 0;
  try {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      try {
        const { size } = statSync(join(folder, name));
        bytes += size;
      } catch {
        // Ignore a file that was removed after the directory was listed.
      }
    }
  } catch {
    // Treat a missing directory as empty.
  }
  return bytes;
}

async function stall(port: number): Promise<number | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(5_000) });
    const [, seconds] = /^almanac_process_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await answer.text()) ?? [];
    return seconds === undefined ? null : Number(seconds);
  } catch {
    return null;
  }
}
