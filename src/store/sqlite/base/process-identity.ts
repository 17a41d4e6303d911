import { readFileSync, readlinkSync } from 'node:fs';

/** Identity of a process that no later process with the same number has. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process, as the operating system counts it. */
  readonly started: string;
  /** Namespace of the process number. */
  readonly namespace: string;
}

/** Returns the identity of a process; null if the process does not exist or the system does not show it. */
export function processIdentity(pid: number): ProcessIdentity | null {
  try {
    // The name of the program, in parentheses, may contain spaces and parentheses. Field 22 is the start time.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const started = fields[19];
    if (started === undefined || state === 'Z' || state === 'X') return null;
    return { pid, started, namespace: readlinkSync('/proc/self/ns/pid') };
  } catch {
    return null;
  }
}

/** Returns true if the recorded process still runs and is visible to this process. */
export function isRunning(recorded: ProcessIdentity): boolean {
  const found = processIdentity(recorded.pid);
  return found !== null && found.started === recorded.started && found.namespace === recorded.namespace;
}
