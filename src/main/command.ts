import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../ops/setting.ts';

/** What a command is given by the process that it runs in. */
export interface CommandContext {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly knownFlags: readonly string[];
  /** Prints one line on stdout. */
  readonly print: (line: string) => void;
}

/** A command: its table of settings, and what it does. Resolves with the exit code. */
export interface Command {
  readonly summary: string;
  /** What stands after the command's name besides flags. */
  readonly operands: string;
  readonly settings: Settings;
  /** What each exit code means, of a command that tells more by it than 0 for well and 1 for a fault. */
  readonly exitCodes?: readonly ExitCode[];
  run(context: CommandContext): Promise<number>;
}

/** An exit code and its meaning, for the help and the docs. */
export interface ExitCode {
  readonly code: number;
  readonly meaning: string;
}

/** The folder of the installed package: above the built program, or above its sources in a checkout. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isPackage(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the package folder was not found above the program');
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

/** The version of the package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : null;
  return typeof found === 'string' ? found : 'unknown';
}
