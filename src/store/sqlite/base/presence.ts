import {
  closeSync,
  futimesSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isObject } from '../../../input/json-budget.ts';

/** Interval between heartbeats in a presence file, in milliseconds. */
const beatMs = 500;
/** Maximum size of a presence file, in bytes; a larger file is ignored. */
const maxBytes = 4_096;

/** State of the process that a presence file describes: still opening the store, or ready. */
type PresenceState = 'opening' | 'ready';

/** Process that a presence file describes. */
interface Present {
  readonly token: string;
  readonly state: PresenceState;
  /** Identity of the process, or null if its operating system does not provide one. */
  readonly process: ProcessIdentity | null;
  /** Text that changes with each heartbeat of the process. */
  readonly beat: string;
}

/** Handle of this process's presence file. The modification time of the file is the heartbeat. */
export interface Presence {
  /** Writes a new state to the file. */
  become(state: PresenceState): void;
  /** Ends the heartbeat and removes the file, unless another process has replaced it. */
  end(): void;
}

/**
 * Writes a presence file, and updates its modification time until `end` is called. The file is updated through its
 * descriptor, so that a process that was replaced never updates the file of its successor. Errors, for example on a
 * full disk, are ignored: without the file, other processes cannot identify this process, and therefore wait until it
 * ends.
 */
export function announce(path: string, token: string): Presence {
  let descriptor = attempt(() => write(path, token, 'opening'));
  const timer = setInterval(() => {
    const now = new Date();
    attempt(() => descriptor !== null && futimesSync(descriptor, now, now));
  }, beatMs);
  timer.unref();
  let isOver = false;
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };
  return {
    become(state) {
      if (isOver) return;
      const next = attempt(() => write(path, token, state));
      if (next === null) return;
      close();
      descriptor = next;
    },
    end() {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      close();
      attempt(() => readPresent(path)?.token === token && rmSync(path, { force: true }));
    },
  };
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Replaces the presence file atomically; returns the descriptor of the new file. */
function write(path: string, token: string, state: PresenceState): number {
  const text = JSON.stringify({ token, state, process: processIdentity(process.pid) });
  const temporary = `${path}.${process.pid}`;
  const descriptor = openSync(temporary, 'w', 0o644);
  try {
    writeSync(descriptor, `${text}\n`);
    renameSync(temporary, path);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

/** Returns the process that a presence file describes, or null if there is no valid file. */
export function readPresent(path: string): Present | null {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    if (size > maxBytes) return null;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isObject(value) || typeof value.token !== 'string') return null;
    if (value.state !== 'opening' && value.state !== 'ready') return null;
    return { token: value.token, state: value.state, process: identityOf(value.process), beat: `${ino} ${mtimeMs}` };
  } catch {
    return null;
  }
}

function identityOf(value: unknown): ProcessIdentity | null {
  if (!isObject(value)) return null;
  const { pid, started, namespace } = value;
  // Reject process ids below 2: signalling them could reach a process group or the init process.
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 1) return null;
  return typeof started === 'string' && typeof namespace === 'string' ? { pid, started, namespace } : null;
}

/** Identity of a process. A later process with the same process id has a different identity. */
interface ProcessIdentity {
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
function processIdentity(pid: number): ProcessIdentity | null {
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
