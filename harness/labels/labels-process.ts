import type { ChildProcess } from 'node:child_process';
import { startProgram } from '../process/program.ts';

/** Output and exit code of a run of `almanac labels`. */
export interface Ended {
  /** Exit code of the process; null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: readonly string[];
  /** Lines of the standard error output that are not log lines. */
  readonly stderr: readonly string[];
}

/** A running process of `almanac labels`. */
export interface LabelsProcess {
  readonly process: ChildProcess;
  /** Resolves once the process logs that it observes; rejects if the process ends earlier. */
  readonly observing: Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts `almanac labels` with arguments and with environment variables in addition to `PATH`. */
export function spawnLabels(args: readonly string[], env: Readonly<Record<string, string>> = {}): LabelsProcess {
  const { child, line, ended, stdout, stderr } = startProgram(['labels', ...args], { env });
  const observing = line(/^almanac labels observing$/).then(() => undefined);
  // Many tests wait only for the end of the process and do not handle this rejection.
  observing.catch(() => undefined);
  return {
    process: child,
    observing,
    ended: ended().then(() => ({
      code: child.exitCode,
      stdout,
      stderr: stderr.filter((text) => !text.startsWith('{')),
    })),
  };
}
