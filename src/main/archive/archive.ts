import { type FindingKind, findingMeanings, verifyExitCodes } from '../../archive/verify/finding.ts';
import { OperatorError } from '../../ops/errors.ts';
import type { Command } from '../command.ts';
import { archiveSettings } from './archive-settings.ts';

const kinds = (Object.keys(findingMeanings) as FindingKind[]).filter((kind) => verifyExitCodes[kind] > 1);

/** `almanac archive`: archives what the facts API publishes, and verifies and maintains archives. */
export const archiveCommand: Command<typeof archiveSettings> = {
  summary: 'archives what the facts API publishes, hour by hour, with a signed log of the closed days',
  operands: '[verify URL-or-DIR | rebuild DAY | withdraw DAY FILE]',
  settings: archiveSettings,
  exitCodes: [
    {
      code: verifyExitCodes.intact,
      meaning: 'verify: the archive is intact; rebuild: the computed files match the published ones',
    },
    { code: 1, meaning: 'an invalid setting, or a file that cannot be read' },
    ...kinds.map((kind) => ({
      code: verifyExitCodes[kind],
      meaning: `verify${kind === 'altered' ? ', rebuild' : ''}: ${findingMeanings[kind]}`,
    })),
  ],
  async run(values, { positionals, print }) {
    const [action, ...operands] = positionals;
    // Load the modules of each action on demand, because other commands do not need them.
    if (action === undefined) return (await import('./archive-process.ts')).archive(values, print);
    if (action === 'verify') return (await import('./archive-verify.ts')).verify(operands, values, print);
    if (action === 'rebuild') return (await import('./archive-process.ts')).rebuild(operands, values, print);
    if (action === 'withdraw') return (await import('./archive-process.ts')).withdraw(operands, values, print);
    throw new OperatorError(
      `unknown action ${JSON.stringify(action)}: use verify, rebuild or withdraw, or no action to archive`,
    );
  },
};
