import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Later } from './once-in-file.ts';
import { type Program, type ProgramOptions, startCommand, startProgram } from './program.ts';

/** Starts the built program with the given arguments, and kills it after the test, or when `later` releases it. */
export function startProgramInTest(
  args: readonly string[],
  options: ProgramOptions = {},
  later: Later = onTestFinished,
): Program {
  const program = startProgram(args, options);
  later(() => program.kill());
  return program;
}

/** Runs the built program. Resolves with its output and exit code. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}) {
  const { ended, stdout, stderr } = startProgramInTest(args, options);
  return { code: await ended(), stdout, stderr };
}

/** A foreign program that runs in the foreground. */
export interface ForeignProgram {
  /** Throws with the program's output if the program has exited. */
  readonly assertRuns: () => void;
  /** Returns what the program has written so far. */
  readonly said: () => string;
}

/** Starts a foreign program, such as a proxy, and ends it with `signal` after the test. */
export function startForeignInTest(
  command: string,
  args: readonly string[],
  { signal = 'SIGTERM', ...options }: Pick<SpawnOptions, 'cwd' | 'env'> & { readonly signal?: NodeJS.Signals } = {},
): ForeignProgram {
  const { child, stdout, stderr } = startCommand(command, args, options);
  const said = (): string => [...stdout, ...stderr].join('\n');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  onTestFinished(async () => {
    if (hasEnded()) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  });
  return {
    said,
    assertRuns: () => {
      if (hasEnded()) throw new Error(`${command} exited: ${said()}`);
    },
  };
}
