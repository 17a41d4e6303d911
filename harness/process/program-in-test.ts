import { onTestFinished } from 'vitest';
import { type Program, type ProgramOptions, startProgram } from './program.ts';

/** Starts the built program with the given arguments, and kills it after the test. */
export function startProgramInTest(args: readonly string[], options: ProgramOptions = {}): Program {
  const program = startProgram(args, options);
  onTestFinished(() => program.kill());
  return program;
}

/** Runs the built program. Resolves with its output and exit code. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}) {
  const { ended, stdout, stderr } = startProgramInTest(args, options);
  return { code: await ended(), stdout, stderr };
}
