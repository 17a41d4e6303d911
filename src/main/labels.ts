import { OperatorError } from '../ops/errors.ts';
import { resolveSettings } from '../ops/settings.ts';
import type { Command } from './command.ts';
import { labelsSettings } from './labels-settings.ts';

/** `almanac labels`: the label instrument, and what an operator does about it. */
export const labelsCommand: Command = {
  summary: 'the label instrument: observes every labeler and writes labels-overview.json',
  operands: '[hold | release | verify]',
  settings: labelsSettings,
  async run({ args, env, knownFlags, print }) {
    const { values, positionals } = resolveSettings(labelsSettings, { args, env, knownFlags });
    const [action, ...rest] = positionals;
    if (rest.length > 0) throw new OperatorError(`unexpected ${JSON.stringify(rest[0])} after ${action}`);
    // Loaded when it runs: the other commands carry no store.
    const { observe, hold, release, verify } = await import('./labels-actions.ts');
    switch (action) {
      case undefined:
        return observe(values, print);
      case 'hold':
        return hold(values, print);
      case 'release':
        return release(values, print);
      case 'verify':
        return verify(values, print);
      default:
        throw new OperatorError(
          `unknown action ${JSON.stringify(action)}: use hold, release or verify, or none to observe`,
        );
    }
  },
};
