import type { ChildProcess } from 'node:child_process';
import { startProgram } from '../process/program.ts';

/** Output and exit code of a completed run of `almanac labels`. */
interface Ended {
  /** Exit code, or null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: readonly string[];
  /** Lines of stderr that are not log lines. */
  readonly stderr: readonly string[];
}

/** A running process of `almanac labels`. */
export interface LabelsProcess {
  readonly process: ChildProcess;
  /** Resolves once the process reports that it is observing. Rejects if the process exits first. */
  readonly observing: Promise<void>;
  readonly ended: Promise<Ended>;
  /** Returns the parsed log lines so far. */
  log(): Record<string, unknown>[];
}

/** Starts `almanac labels` with the given arguments and environment variables. `PATH` is always set. */
export function spawnLabels(args: readonly string[], env: Readonly<Record<string, string>> = {}): LabelsProcess {
  const { child, line, ended, stdout, stderr, log } = startProgram(['labels', ...args], { env });
  const observing = line(/^almanac labels observing$/).then(() => undefined);
  // Handle the rejection: many tests wait only for the process to exit.
  observing.catch(() => undefined);
  return {
    process: child,
    observing,
    log,
    ended: ended().then(() => ({
      code: child.exitCode,
      stdout,
      stderr: stderr.filter((text) => !text.startsWith('{')),
    })),
  };
}
