import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Functions to call at the exit, in the order in which they were added. */
const actions = new Set<() => void>();

/** Signals that end a run: Ctrl-C, the end of the terminal, and a request of another program. */
export const endingSignals = ['SIGINT', 'SIGHUP', 'SIGTERM'] as const;

/**
 * Calls a function when this process exits, also after Ctrl-C: a run must leave no program and no file behind. The latest
 * function is called first. The returned function removes it.
 */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) install();
  actions.add(action);
  return () => actions.delete(action);
}

/** Kills a program when this process exits before it. */
export function killAtExit(child: ChildProcess): void {
  child.once(
    'close',
    atExit(() => child.kill('SIGKILL')),
  );
}

/** Creates a temporary directory. The returned function removes it, as the exit of this process does. */
export function temporaryFolder(name: string): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), `almanac-${name}-`));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  const keep = atExit(removeFolder);
  return {
    folder,
    remove() {
      keep();
      removeFolder();
    },
  };
}

let isInstalled = false;

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  // Vitest ends its own workers, in which `process.exit` throws. A repeated signal must not end this process during the
  // actions, so the listeners remain.
  if (process.env.VITEST === undefined) {
    for (const signal of endingSignals) process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  process.once('exit', () => {
    for (const action of [...actions].reverse()) {
      try {
        action();
      } catch (error) {
        process.stderr.write(`not cleaned up: ${String(error)}\n`);
      }
    }
  });
}
