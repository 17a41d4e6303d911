import type { ChildProcess } from 'node:child_process';
import { startProgram } from '../process/program.ts';

/** Output and exit code of a run of `almanac labels`. */
export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: readonly string[];
  /** Lines that are not log lines. */
  readonly stderr: readonly string[];
}

/** A running `almanac labels`. */
export interface LabelsProcess {
  readonly process: ChildProcess;
  /** Resolves once it announces that it observes; rejects if it ends before. */
  readonly observing: Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts `almanac labels` with arguments, and with environment variables besides `PATH`. */
export function spawnLabels(args: readonly string[], env: Readonly<Record<string, string>> = {}): LabelsProcess {
  const { child, line, ended, stdout, stderr } = startProgram(['labels', ...args], { env });
  const observing = line(/^almanac labels observing$/).then(() => undefined);
  // Many tests only wait for the end.
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
