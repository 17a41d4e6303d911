import { type FindingKind, findingMeanings, verifyExitCodes } from '../../archive/verify/finding.ts';
import { OperatorError } from '../../ops/errors.ts';
import { resolveSettings } from '../../ops/settings.ts';
import type { Command } from '../command.ts';
import { archiveSettings } from './archive-settings.ts';

const kinds = (Object.keys(findingMeanings) as FindingKind[]).filter((kind) => verifyExitCodes[kind] > 1);

/** `almanac archive`: archives what the facts API publishes, and verifies an archive. */
export const archiveCommand: Command = {
  summary: 'archives what the facts API publishes, hour by hour, with a signed log of the closed days',
  operands: '[verify URL-or-DIR]',
  settings: archiveSettings,
  exitCodes: [
    { code: verifyExitCodes.intact, meaning: 'verify: the archive is intact' },
    { code: 1, meaning: 'an invalid setting, or a file that cannot be read' },
    ...kinds.map((kind) => ({ code: verifyExitCodes[kind], meaning: `verify: ${findingMeanings[kind]}` })),
  ],
  async run({ args, env, knownFlags, print }) {
    const { values, positionals } = resolveSettings(archiveSettings, { args, env, knownFlags });
    const [action, place, ...more] = positionals;
    // Loaded on demand, because other commands do not need these modules.
    if (action === undefined) return (await import('./archive-process.ts')).archive(values, print);
    if (action !== 'verify') {
      throw new OperatorError(`unknown action ${JSON.stringify(action)}: use verify, or no action to archive`);
    }
    if (place === undefined || more.length > 0)
      throw new OperatorError('archive verify requires exactly one URL or DIR');
    return (await import('./archive-verify.ts')).verify(place, values, print);
  },
};
