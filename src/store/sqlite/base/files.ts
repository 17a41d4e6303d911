import {
  closeSync,
  existsSync,
  fsyncSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Micros } from '../../../contract/timestamp.ts';
import { isObject } from '../../../input/json-budget.ts';
import { keptIdentitiesName } from '../../common/kept-identities.ts';
import { StoreError } from '../../errors.ts';
import { dayFromName, dayName } from '../../time.ts';
import { isAbsent, type Sqlite, storeError } from './connection.ts';

/**
 * Files in a store's directory:
 *
 * - `state.sqlite`: epoch, gaps, roster, keys, definitions, list of days
 * - `writer.lock`, `standby.lock`: files that the one writer and the one standby lock
 * - `writer.json`, `standby.json`: presence files that describe these processes
 * - `identities.kept`: what a closed writer leaves to the next one; see `common/kept-identities.ts`
 * - `days/YYYY-MM-DD.open.sqlite`: a day to which rows may still be added
 * - `days/YYYY-MM-DD.sealed.sqlite`: a day that gets no more rows; only a whole new file replaces it
 *
 * The open and the sealed form of a day have different names, so that a leftover log of one form is never applied to
 * the other. If both exist, the sealed form is used, because a rename made it visible only after it was complete.
 */
export interface StorePaths {
  readonly folder: string;
  readonly days: string;
  readonly state: string;
  readonly lock: string;
  readonly writer: string;
  readonly standbyLock: string;
  readonly standby: string;
  readonly identities: string;
}

/** Returns the paths of a store in a directory. */
export function storePaths(folder: string): StorePaths {
  return {
    folder,
    days: join(folder, 'days'),
    state: join(folder, 'state.sqlite'),
    lock: join(folder, 'writer.lock'),
    writer: join(folder, 'writer.json'),
    standbyLock: join(folder, 'standby.lock'),
    standby: join(folder, 'standby.json'),
    identities: join(folder, keptIdentitiesName),
  };
}

/** Form of a day's file: open if rows may still be added, or sealed. */
export type DayForm = 'open' | 'sealed';

/** Returns the path of a day's file in the given form. */
export function dayPath(paths: StorePaths, day: number, form: DayForm): string {
  return join(paths.days, `${dayName(day)}.${form}.sqlite`);
}

/** Returns the path at which the sealed form of a day is written before it is renamed. */
export function growingPath(paths: StorePaths, day: number): string {
  return `${dayPath(paths, day, 'sealed')}.growing`;
}

/**
 * Removes a database and its SQLite side files. Removes the database before its log, so that no reader opens the
 * database without its log.
 */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}

/** Returns the day files in the directory, oldest first. */
export function listDays(paths: StorePaths): { day: number; form: DayForm }[] {
  const found: { day: number; form: DayForm }[] = [];
  for (const name of readdirSync(paths.days)) {
    const match = /^(.{10})\.(open|sealed)\.sqlite$/.exec(name);
    const day = match?.[1] === undefined ? null : dayFromName(match[1]);
    if (day !== null) found.push({ day, form: match?.[2] === 'sealed' ? 'sealed' : 'open' });
  }
  return found.sort((a, b) => a.day - b.day);
}

/**
 * Event about a file in the directory of days: the store removed, moved or rewrote the file, or left it in place
 * because it might still be needed.
 */
export interface FileEvent {
  readonly name: string;
  /** Day in the file's name, `YYYY-MM-DD`, or null if the name contains no day. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Handler that is called for each file event. */
export type OnFile = (event: FileEvent) => void;

/** Handler that ignores file events. */
export const silent: OnFile = () => undefined;

/** Makes a file's content durable with fsync. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Names of directories and files that belong to an unfinished move, restore or copy. */
export const unfinishedNames = {
  suffix: '.unfinished',
  /** Directory into which a backup is copied, and in which it is verified, before its files are moved into the store. */
  copying: 'restore-copy.unfinished',
  /** Directory with a complete and verified copy of a backup. Once it exists, the restore can only be completed. */
  copied: 'restore-move.unfinished',
  /** Marker file of a directory that is the target of an unfinished copy of another store. */
  storeCopy: 'store-copy.unfinished',
} as const;

/**
 * Maximum time to wait for the lock, in milliseconds. A process that checks whether the lock is held takes a shared
 * lock briefly, or longer on a busy machine. This shared lock must not be mistaken for a second writer.
 */
const lookedAtMs = 500;

/** Lock of a store's writer. It is held until it is released, or until the process ends for any reason. */
export interface WriterLock {
  release(): void;
}

/**
 * Takes the writer's lock: an exclusive lock of the operating system on a separate file, so that a killed process
 * leaves no lock behind. Throws `second_writer` if another connection, in any process, holds the lock, and
 * `not_a_store` if the file cannot be created.
 */
export function takeWriterLock(path: string): WriterLock {
  let db: Sqlite;
  try {
    db = new Database(path, { timeout: lookedAtMs });
  } catch (error) {
    throw storeError(error, path);
  }
  try {
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    const refused = storeError(error, path);
    if (refused instanceof StoreError && refused.code === 'busy') {
      throw new StoreError('second_writer', 'another process is writing to this store; stop it first', {
        cause: error,
      });
    }
    throw isAbsent(refused) ? new StoreError('not_a_store', `${path} cannot be created`, { cause: error }) : refused;
  }
  return { release: () => db.close() };
}

/** Returns true if a process holds the lock. Takes only a shared lock, briefly, and writes no file. */
export function writerLockHeld(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: Sqlite | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    db.prepare('SELECT 1 FROM sqlite_master').get();
    return false;
  } catch (error) {
    const refused = storeError(error, path);
    if (refused instanceof StoreError && refused.code === 'busy') return true;
    throw refused;
  } finally {
    db?.close();
  }
}

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

/**
 * Checks that no other process has become the writer. Each process that opens the store for writing sets a token in the
 * state file.
 */
export interface Fence {
  /** Throws `fenced` if another process has set a token since this writer set its token. */
  assertWriter(): void;
  /** Checks the token, then runs a change to the state file, in one transaction. */
  run<T>(work: () => T): T;
}

interface FenceOptions {
  /** Generates the random id of a new store's generation. */
  readonly generationId: () => string;
  /** Current time of the acceptance clock: the start of the epoch if the store is new. */
  readonly at: Micros;
  /** Token that this writer sets. */
  readonly token: string;
  /** Called after a change was rolled back, which includes a change whose commit failed. */
  readonly rolledBack: () => void;
}

/** Starts the epoch of a new store, and sets this writer's token. */
export function beginWriting(db: Sqlite, { generationId, at, token, rolledBack }: FenceOptions): Fence {
  db.prepare('INSERT INTO epoch(one, generation, started_at, floor) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING').run(
    generationId(),
    at,
    at,
  );
  // Record the process id for error messages and for a person who inspects the file.
  const writer = `${token} pid ${process.pid}`;
  db.prepare('UPDATE epoch SET writer = ?').run(writer);
  const current = db.prepare<[], string>('SELECT writer FROM epoch').pluck();
  const assertWriter = (): void => {
    const now = current.get();
    if (now === writer) return;
    const other = now?.split(' ').slice(1).join(' ') ?? 'process id unknown';
    throw new StoreError('fenced', `another process (${other}) became the writer of this store; this process stops`);
  };
  // A transaction of `work` becomes a savepoint of this transaction.
  const transaction = db.transaction((work: () => unknown): unknown => {
    assertWriter();
    return work();
  });
  function run<T>(work: () => T): T {
    try {
      return transaction.immediate(work) as T;
    } catch (error) {
      rolledBack();
      throw error;
    }
  }
  return { assertWriter, run };
}
