import { onTestFinished } from 'vitest';
import type { Later } from './once-in-file.ts';
import { type Program, type ProgramOptions, startProgram } from './program.ts';

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
