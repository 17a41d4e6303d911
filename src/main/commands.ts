import { OperatorError } from '../ops/errors.ts';
import { resolveSettings, unknown, variableOf } from '../ops/setting.ts';
import { accountCommand } from './account/account.ts';
import { archiveCommand } from './archive/archive.ts';
import { checkCommand } from './check/check.ts';
import { type Command, packageVersion } from './command.ts';
import { demoCommand } from './demo/demo.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { exportCommand } from './export/export.ts';
import { factsCommand } from './facts/facts.ts';
import { labelerCommand } from './labeler/labeler.ts';
import { labelsCommand } from './labels/labels.ts';
import { simCommand } from './sim/sim.ts';
import { storeCommand } from './store/store.ts';
import { upCommand } from './up/up.ts';
import { weatherCommand } from './weather/weather.ts';

/** Every command, in the order of the help. */
export const commands = {
  up: upCommand,
  demo: demoCommand,
  facts: factsCommand,
  account: accountCommand,
  weather: weatherCommand,
  labels: labelsCommand,
  labeler: labelerCommand,
  export: exportCommand,
  archive: archiveCommand,
  check: checkCommand,
  doctor: doctorCommand,
  store: storeCommand,
  sim: simCommand,
} as const satisfies Record<string, Command>;

/** Names of all commands. */
export const commandNames = Object.keys(commands) as (keyof typeof commands)[];

/**
 * Runs the command that the first argument names, or prints the help or the version. Resolves with the exit code.
 * Rejects with OperatorError for an unknown command or an invalid setting.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const [first = 'help', ...rest] = argv;
  // `help COMMAND` is equivalent to `COMMAND --help`.
  const helped = first === 'help' ? rest[0] : undefined;
  const name = helped ?? first;
  const args = helped === undefined ? rest : ['--help'];
  if (name === 'help' || name === '--help' || name === '-h') return print(overview());
  if (name === 'version' || name === '--version') return print(`almanac ${packageVersion()}`);
  const found = commandNames.find((known) => known === name);
  if (!found) throw unknown(`command ${name}`, name, commandNames, (known) => known);
  const command: Command = commands[found];
  if (args.includes('--help') || args.includes('-h')) return print(commandHelp(found, command));
  const sources = { args, env: process.env, knownFlags };
  const { values, positionals } = resolveSettings(command.settings, sources);
  const [stray] = positionals;
  if (stray !== undefined && command.operands === '')
    throw new OperatorError(`this command accepts only settings, such as --NAME VALUE; got ${stray}`);
  return command.run(values, { ...sources, positionals, print });
}

function print(line: string): number {
  process.stdout.write(`${line}\n`);
  return 0;
}

/**
 * Flags of all commands. Variables and the config file may set any of these flags, regardless of the command that
 * runs.
 */
const knownFlags: readonly string[] = [
  ...new Set(Object.values(commands).flatMap(({ settings }) => Object.values(settings).map(({ flag }) => flag))),
];

/** Returns the output of `almanac help`. */
function overview(): string {
  const names = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return [
    'usage: almanac COMMAND [settings]',
    '',
    ...names,
    '',
    'almanac COMMAND --help lists the settings of a command. Flags override ALMANAC_* variables, and variables override',
    'the file given with --config (one JSON object, keyed by flag names).',
  ].join('\n');
}

/** Width of the column that precedes the descriptions of settings, in characters. */
const width = 36;

/** Returns the output of `almanac COMMAND --help`. */
function commandHelp(name: string, { summary, operands, actions = [], settings, exitCodes = [] }: Command): string {
  const rows = Object.values(settings).map(({ flag, placeholder, help, fallback }) => {
    const usage = placeholder === null ? `--${flag}` : `--${flag} ${placeholder}`;
    const given = String(fallback ?? '');
    const description = given === '' || given === 'false' ? help : `${help} (${given})`;
    // Put the description on a new line if the usage is wider than its column.
    const head = usage.length < width ? usage.padEnd(width) : `${usage}\n  ${''.padEnd(width)}`;
    return `  ${head}${description}\n  ${''.padEnd(width)}${variableOf(flag)}`;
  });
  const actionLines = actions.map(({ usage, does }) => `  ${usage.padEnd(width)}${does}`);
  const codeLines = exitCodes.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`);
  const codes = codeLines.length === 0 ? [] : ['', 'exit codes:', ...codeLines];
  return [
    `usage: almanac ${name} ${operands ? `${operands} ` : ''}[settings]`,
    '',
    summary,
    '',
    ...(actionLines.length === 0 ? [] : [...actionLines, '']),
    ...rows,
    ...codes,
  ].join('\n');
}
