import { readFileSync } from 'node:fs';
import type { Program } from '../process/program.ts';

/** Returns the process ids of an observatory's parts, by command name. */
export function partsOf({ child: { pid = 0 } }: Program): Map<string, number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return new Map(
    children.flatMap((child) => {
      const words = commandLine(child);
      const program = words.findIndex((word) => word.endsWith('almanac.mjs'));
      const name = words[program + 1];
      return program >= 0 && name ? [[name, Number(child)]] : [];
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

/** Returns the arguments of a process, or an empty list if the process has exited. */
function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
