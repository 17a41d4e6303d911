import type { Command } from '../src/main/command.ts';
import { commands } from '../src/main/commands.ts';
import { variableOf } from '../src/ops/setting.ts';

/**
 * Returns the page about the settings and exit codes of every command. It is generated from the parser's own tables.
 */
export function settingsDocument(): string {
  const sections = Object.entries<Command>(commands).map(([name, { summary, operands, settings, exitCodes = [] }]) => {
    const rows = Object.values(settings).map(({ flag, placeholder, help, fallback }) => {
      const usage = placeholder === null ? `--${flag}` : `--${flag} ${placeholder.replaceAll('|', '\\|')}`;
      // Leave the cell empty for an empty list.
      const text = fallback === null || fallback === false ? '' : String(fallback);
      const given = text === '' ? '' : `\`${text}\``;
      return `| \`${usage}\` | \`${variableOf(flag)}\` | ${given} | ${help} |`;
    });
    const codeRows = exitCodes.map(({ code, meaning }) => `| ${code} | ${meaning} |`);
    const codes = codeRows.length === 0 ? [] : ['', '| exit code | means |', '|---|---|', ...codeRows];
    return [
      `## almanac ${[name, operands].filter((word) => word !== '').join(' ')}`,
      '',
      `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
      '',
      '| flag | variable | default | meaning |',
      '|---|---|---|---|',
      ...rows,
      ...codes,
    ].join('\n');
  });
  return `${head}\n\n${sections.join('\n\n')}\n`;
}

const head = `# Settings

Flags override \`ALMANAC_*\` variables, which override the config file given with \`--config FILE\` (or \`ALMANAC_CONFIG\`): one
JSON object, keyed by flag names without dashes. An unknown flag, variable or key is an error; the message
suggests a known name that differs in one or two letters. A switch has no value on the command line; as a variable or key, its value is
\`true\` or \`false\`. Repeat a flag to give a list;
variables separate list items with commas.

This page is generated from the program: \`npm run generate\`.`;
