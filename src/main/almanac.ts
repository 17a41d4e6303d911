import { unknown } from '../ops/setting.ts';
import { exitWithCodeOf, packageVersion } from './command.ts';
import { commandHelp, commandNames, commands, knownFlags, overview } from './commands.ts';

/**
 * Runs the command that the first argument names, or prints the help or the version. Resolves with the exit code.
 * Rejects with OperatorError for an unknown command.
 */
async function main(argv: readonly string[]): Promise<number> {
  endWithParent();
  continueWithoutReader();
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

/** Makes this process exit when its parent process, which also runs this program, ends. */
function endWithParent(): void {
  if (process.env.__ALMANAC_PARENT === undefined || !process.connected) return;
  delete process.env.__ALMANAC_PARENT;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

/**
 * Makes this process continue without output once the reader of its stdout or stderr has exited. Otherwise a command
 * would print a stack trace if it is piped into a program such as `head`, and a service would stop together with the
 * program that reads its messages.
 */
function continueWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

exitWithCodeOf(main(process.argv.slice(2)));
