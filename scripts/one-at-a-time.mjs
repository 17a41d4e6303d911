import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Interval between attempts to take the lock, in milliseconds. */
const waitMs = 200;

/**
 * Runs `work` while no other process runs it with the same directory. If another process runs it, waits for that
 * process, and calls `onWait` once with the process id and the path of the lock. A process that ended without releasing
 * the lock no longer holds it.
 */
export function oneAtATime(directory, work, onWait) {
  mkdirSync(directory, { recursive: true });
  const lock = join(directory, 'lock');
  const own = join(directory, `lock-${process.pid}`);
  // Link a complete file: the link is created atomically, so no process sees a lock without its holder.
  writeFileSync(own, `${process.pid} ${startOf(process.pid)}`);
  let hasWaited = false;
  while (!isLinked(own, lock)) {
    const found = textOf(lock);
    if (found === null) continue;
    const holder = holderOf(found);
    if (holder === null) removeStale(lock, found, `${own}-stale`);
    else {
      if (!hasWaited) onWait(holder, lock);
      hasWaited = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    }
  }
  rmSync(own);
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function isLinked(own, lock) {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Removes the lock of a process that has ended. Renames the lock first, because only one process can rename a file.
 * If another process has meanwhile created a new lock, restores the new lock.
 */
function removeStale(lock, stale, aside) {
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return;
  }
  if (textOf(aside) !== stale) isLinked(aside, lock);
  rmSync(aside, { force: true });
}

/** Returns the text of a file, or null if the file does not exist. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return null;
  }
}

/**
 * Returns the id of the process that a lock names, or null if that process has ended. A process that has the same id but
 * another start time is a different process.
 */
function holderOf(text) {
  const [id, start] = text.split(' ');
  const holder = Number(id);
  if (!(holder > 0) || holder === process.pid) return null;
  try {
    process.kill(holder, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return null;
  }
  return startOf(holder) === start ? holder : null;
}

/**
 * Returns the start time of a process in clock ticks since the boot, or an empty string on systems other than Linux.
 */
function startOf(id) {
  const status = textOf(`/proc/${id}/stat`) ?? '';
  // Skip the second field, because the name in it may contain spaces.
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
