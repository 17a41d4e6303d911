import { OperatorError } from '../ops/errors.ts';
import { unknown } from '../ops/settings.ts';
import { packageVersion } from './command.ts';
import { commandNames, commands, knownFlags } from './commands.ts';
import { commandHelp, overview } from './help.ts';

/** Finds the command, runs it, and returns its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  endWithParent();
  const [first = 'help', ...rest] = argv;
  // `help COMMAND` is equivalent to `COMMAND --help`.
  const helped = first === 'help' ? rest[0] : undefined;
  const name = helped ?? first;
  const args = helped === undefined ? rest : ['--help'];
  if (name === 'help' || name === '--help' || name === '-h') return print(overview());
  if (name === 'version' || name === '--version') return print(`almanac ${packageVersion()}`);
  const found = commandNames.find((known) => known === name);
  if (!found) {
    throw unknown(`command ${name}`, name, commandNames, (known) => known);
  }
  const command = commands[found];
  if (args.includes('--help') || args.includes('-h')) return print(commandHelp(found, command));
  return command.run({ args, env: process.env, knownFlags, print });
}

function print(line: string): number {
  process.stdout.write(`${line}\n`);
  return 0;
}

/** Makes this process exit when its parent, another process of this program, is killed. */
function endWithParent(): void {
  if (process.env.__ALMANAC_PARENT === undefined || !process.connected) return;
  delete process.env.__ALMANAC_PARENT;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof OperatorError) process.stderr.write(`almanac: ${error.message}\n`);
    else process.stderr.write(`almanac: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
