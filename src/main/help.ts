import { variableOf } from '../ops/setting.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';

/** Output of `almanac help`. */
export function overview(): string {
  const names = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return [
    'usage: almanac COMMAND [settings]',
    '',
    ...names,
    '',
    'almanac COMMAND --help lists the settings of a command. Flags override ALMANAC_* variables, and these override',
    'the file given with --config (one JSON object, keyed by flag names).',
  ].join('\n');
}

/** Columns of a setting, before its words. */
const width = 36;

/** Output of `almanac COMMAND --help`. */
export function commandHelp(name: string, { summary, operands, settings, exitCodes = [] }: Command): string {
  const rows = Object.values(settings).map(({ flag, placeholder, help, fallback }) => {
    const usage = placeholder === null ? `--${flag}` : `--${flag} ${placeholder}`;
    const given = String(fallback ?? '');
    const said = given === '' || given === 'false' ? help : `${help} (${given})`;
    // What is as wide as its column has a line of its own.
    const head = usage.length < width ? usage.padEnd(width) : `${usage}\n  ${''.padEnd(width)}`;
    return `  ${head}${said}\n  ${''.padEnd(width)}${variableOf(flag)}`;
  });
  const told = exitCodes.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`);
  const codes = told.length === 0 ? [] : ['', 'exit codes:', ...told];
  return [
    `usage: almanac ${name} ${operands ? `${operands} ` : ''}[settings]`,
    '',
    summary,
    '',
    ...rows,
    ...codes,
  ].join('\n');
}
