import { OperatorError } from '../../ops/errors.ts';
import { toggle } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { freshnessSettings } from '../facts/facts-settings.ts';
import type { Verdict } from './check-verdict.ts';

const settings = { json: toggle('json', 'print the verdict as one JSON object'), ...freshnessSettings };

/** Exit codes of `almanac check`. */
export const checkExitCodes = { servable: 0, refused: 1, not_an_artifact: 2 } as const satisfies Record<
  Verdict['verdict'],
  number
>;

/** `almanac check FILE`: shows how the facts API would treat an artifact, and why. */
export const checkCommand: Command<typeof settings> = {
  summary: 'judges an artifact as the facts API would, and explains the verdict',
  operands: 'FILE',
  settings,
  exitCodes: [
    { code: checkExitCodes.servable, meaning: 'servable: the facts API serves all its facts' },
    {
      code: checkExitCodes.refused,
      meaning: 'refused: held, stale, malformed or too large; also an unreadable file or an invalid setting',
    },
    { code: checkExitCodes.not_an_artifact, meaning: 'not an artifact: of unknown schema, or not JSON' },
  ],
  async run(values, { positionals, print }) {
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) throw new OperatorError('check requires exactly one FILE');
    // Load the schemas on demand, because other commands do not need them.
    const { explain, readArtifact, verdictOf } = await import('./check-verdict.ts');
    const reading = readArtifact(file, values.maxArtifactBytes);
    const verdict = verdictOf(
      reading,
      {
        maxAgeSeconds: values.maxAgeSeconds,
        collectionMaxAgeSeconds: values.collectionMaxAgeSeconds ?? values.maxAgeSeconds,
      },
      Date.now(),
    );
    print(values.json ? JSON.stringify(verdict, null, 2) : explain(file, verdict));
    return checkExitCodes[verdict.verdict];
  },
};
