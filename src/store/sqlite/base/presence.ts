import { closeSync, futimesSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { isObject } from '../../../input/json-object.ts';
import { type ProcessIdentity, processIdentity } from './process-identity.ts';

/** Interval between two heartbeats of a present process, in milliseconds. */
export const beatMs = 500;
/** Maximum size of a presence file that is read, in bytes. */
const maxBytes = 4_096;

/** State of a present process: it prepares its work, or works. */
export type PresenceState = 'opening' | 'ready';

/** A process that a presence file describes. */
export interface Present {
  readonly token: string;
  readonly state: PresenceState;
  /** Identity of the process, or null if its system does not show identities. */
  readonly process: ProcessIdentity | null;
  /** Text that changes with each heartbeat. */
  readonly beat: string;
}

/** The presence file of this process, whose modification time is the heartbeat. */
export interface Presence {
  /** Changes the state in the file. */
  become(state: PresenceState): void;
  /** Ends the heartbeat and removes the file, unless another process has replaced it. */
  end(): void;
}

/**
 * Writes a presence file, and updates its modification time until `end`. The descriptor of the own file is updated, so
 * that a process that continues after its replacement never updates the file of its successor. A file that cannot be
 * written, as on a full disk, is left out: other processes then cannot identify this one, and wait for its end.
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

/** Replaces the file atomically; returns its descriptor. */
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

/** Returns the process that a presence file describes; null if there is no valid file. */
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
  // Never signal a group of processes, which a number below 1 would name.
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 1) return null;
  return typeof started === 'string' && typeof namespace === 'string' ? { pid, started, namespace } : null;
}
