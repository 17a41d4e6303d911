import { readFileSync, readlinkSync } from 'node:fs';

/** Identity of a process. A later process with the same process id has a different identity. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process, in the unit of the operating system. */
  readonly started: string;
  /** PID namespace in which the process id is valid. */
  readonly namespace: string;
}

/**
 * Returns the identity of a process, or null if the process does not exist or has ended, or if the operating system
 * does not provide the identity.
 */
export function processIdentity(pid: number): ProcessIdentity | null {
  try {
    // Split after the last parenthesis: the program name in parentheses may itself contain spaces and parentheses.
    // Field 22 is the start time.
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

/** Returns true if the recorded process is still running and visible to this process. */
export function isRunning(recorded: ProcessIdentity): boolean {
  const found = processIdentity(recorded.pid);
  return found !== null && found.started === recorded.started && found.namespace === recorded.namespace;
}
