import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../ops/errors.ts';
import type { SettingSources, Settings, Values } from '../ops/setting.ts';

/** Context in which a command runs. */
interface CommandContext extends SettingSources {
  readonly positionals: readonly string[];
  /** Prints one line on stdout. */
  readonly print: (line: string) => void;
}

/** A command: its table of settings and its function, which resolves with the exit code. */
export interface Command<S extends Settings = Settings> {
  readonly summary: string;
  /** Operands after the command's name, as the help shows them; empty for a command that accepts none. */
  readonly operands: string;
  /** Actions of the command with their descriptions, for its help. */
  readonly actions?: readonly ActionHelp[];
  readonly settings: S;
  /** Meanings of the exit codes, for a command with more codes than 0 (success) and 1 (error). */
  readonly exitCodes?: readonly ExitCode[];
  run(values: Values<S>, context: CommandContext): Promise<number>;
}

/** An action of a command: its operands and its description. */
interface ActionHelp {
  readonly usage: string;
  readonly does: string;
}

/** An exit code and its meaning, for the help and the docs. */
interface ExitCode {
  readonly code: number;
  readonly meaning: string;
}

/**
 * Returns the directory of the installed package: the parent of the built program, or of its sources in a checkout.
 * Throws an error if no such directory exists.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isPackage(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('no parent directory of the program contains the package.json of almanac');
    folder = parent;
  }
  return folder;
}

function isPackage(folder: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === 'almanac';
  } catch {
    return false;
  }
}

/** Returns the version of the package, or `unknown` if its package.json states no version. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : null;
  return typeof found === 'string' ? found : 'unknown';
}

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
