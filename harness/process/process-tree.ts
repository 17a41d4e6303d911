import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Program } from './program.ts';

interface ProcessTree {
  readonly pids: readonly number[];
  /** Resident memory of all processes, in MB. A shared page counts once for each process that uses it. */
  readonly residentMb: number;
  /** Proportional memory of all processes, in MB. Shared pages count once in total. */
  readonly proportionalMb: number;
  /** Processor time of all processes since their start, in seconds. */
  readonly cpuSeconds: number;
}

/** Clock ticks per second in Linux's /proc. */
const ticks = 100;

/**
 * Returns the resource use of a process and its descendants (proc(5)). A value that cannot be read, for example because
 * its process has exited, counts as zero.
 */
export function processTree(root: number): ProcessTree {
  const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : []));
  const pids = [root];
  for (const pid of pids) pids.push(...stats.filter(({ parent }) => parent === pid).map((stat) => stat.pid));
  const all = pids.map((pid) => ({ memory: memoryOf(pid), cpu: stats.find((stat) => stat.pid === pid)?.cpu ?? 0 }));
  return {
    pids,
    residentMb: all.reduce((sum, { memory }) => sum + memory.resident, 0),
    proportionalMb: all.reduce((sum, { memory }) => sum + memory.proportional, 0),
    cpuSeconds: all.reduce((sum, { cpu }) => sum + cpu, 0),
  };
}

/** Returns the memory of a process, in MiB: its present resident memory, or its peak. Throws if it has exited. */
export function memoryMib(pid: number | undefined, which: 'VmRSS' | 'VmHWM'): number {
  const kib = new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`))?.[1];
  if (kib === undefined) throw new Error(`process ${pid} has exited`);
  return Number(kib) / 1024;
}

/** Returns the processor time of a process without its descendants, in seconds. Throws if it has exited. */
export function cpuSeconds(pid: number | undefined): number {
  const [stat] = statOf(Number(pid));
  if (!stat) throw new Error(`process ${pid} has exited`);
  return stat.cpu;
}

/** Returns the process ids of a process's live children; none if it has exited. */
export function childrenOf(pid: number): number[] {
  const folder = `/proc/${pid}/task`;
  const tasks = existsSync(folder) ? readdirSync(folder) : [];
  return tasks.flatMap((task) => read(`${folder}/${task}/children`).split(' ').filter(Boolean).map(Number));
}

/** Returns the process ids of an observatory's parts, by command name. */
export function partsOf({ child: { pid = 0 } }: Program): Map<string, number> {
  return new Map(
    childrenOf(pid).flatMap((child) => {
      const words = read(`/proc/${child}/cmdline`).split('\0');
      const program = words.findIndex((word) => word.endsWith('almanac.mjs'));
      const name = words[program + 1];
      return program >= 0 && name ? [[name, child]] : [];
    }),
  );
}

/** Returns true if the process exists. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function statOf(pid: number): { pid: number; parent: number; cpu: number }[] {
  const text = read(`/proc/${pid}/stat`);
  // Parse the fields after the process name, which is in brackets and may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 14) return [];
  return [{ pid, parent: Number(fields[1]), cpu: (Number(fields[11]) + Number(fields[12])) / ticks }];
}

function memoryOf(pid: number): { resident: number; proportional: number } {
  const text = read(`/proc/${pid}/smaps_rollup`);
  const mb = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024) / 1e6;
  return { resident: mb('Rss'), proportional: mb('Pss') };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
