import { constants } from 'node:os';

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

let isInstalled = false;

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const signal of endingSignals) process.once(signal, () => process.exit(128 + constants.signals[signal]));
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
