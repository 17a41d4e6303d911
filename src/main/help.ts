import { variableOf } from '../ops/setting.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';

/** Returns the output of `almanac help`. */
export function overview(): string {
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
export function commandHelp(
  name: string,
  { summary, operands, actions = [], settings, exitCodes = [] }: Command,
): string {
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
