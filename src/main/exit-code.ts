import { OperatorError } from '../ops/errors.ts';

/**
 * Sets the exit code of the process to the exit code of a command. If the command never settles and the event loop
 * becomes empty, the process exits with 1. By default it would exit with 0, as if the command had succeeded. If the
 * command fails, prints the error and exits with 1.
 */
export function exitWithCodeOf(command: Promise<number>): void {
  const incomplete = (): void => {
    process.stderr.write('almanac: the process ended before the command was complete\n');
    process.exitCode = 1;
  };
  process.once('beforeExit', incomplete);
  command.then(
    (code) => {
      process.off('beforeExit', incomplete);
      process.exitCode = code;
    },
    (error: unknown) => {
      if (error instanceof OperatorError) process.stderr.write(`almanac: ${error.message}\n`);
      else
        process.stderr.write(`almanac: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
}
