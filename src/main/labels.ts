import { OperatorError } from '../ops/errors.ts';
import type { Values } from '../ops/setting.ts';
import { resolveSettings } from '../ops/settings.ts';
import type { Command, CommandContext } from './command.ts';
import { labelsSettings } from './labels-settings.ts';

type Action = (
  values: Values<typeof labelsSettings>,
  print: CommandContext['print'],
  operand: string | undefined,
) => Promise<number>;

/** What an operator does about the instrument, each loaded when it runs: the other commands carry no store. */
const actions: Readonly<Record<string, { readonly operand?: string; readonly load: () => Promise<Action> }>> = {
  hold: { load: async () => (await import('./labels-actions.ts')).hold },
  release: { load: async () => (await import('./labels-actions.ts')).release },
  verify: { load: async () => (await import('./labels-verify.ts')).verify },
  'new-epoch': { load: async () => (await import('./labels-new-epoch.ts')).newEpoch },
  restore: { operand: 'FROM', load: async () => (await import('./labels-restore.ts')).restoreFrom },
};

const usages = Object.entries(actions).map(([name, { operand }]) => [name, operand].filter(Boolean).join(' '));

/** `almanac labels`: the label instrument, and what an operator does about it. */
export const labelsCommand: Command = {
  summary: 'the label instrument: observes every labeler and writes labels-overview.json',
  operands: `[${usages.join(' | ')}]`,
  settings: labelsSettings,
  async run({ args, env, knownFlags, print }) {
    const { values, positionals } = resolveSettings(labelsSettings, { args, env, knownFlags });
    const [name, ...rest] = positionals;
    if (name === undefined) return (await import('./labels-actions.ts')).observe(values, print);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) {
      const known = Object.keys(actions).join(', ');
      throw new OperatorError(`unknown action ${JSON.stringify(name)}: use one of ${known}, or none to observe`);
    }
    const extra = rest[action.operand === undefined ? 0 : 1];
    if (extra !== undefined) throw new OperatorError(`unexpected ${JSON.stringify(extra)} after ${name}`);
    const run = await action.load();
    return run(values, print, rest[0]);
  },
};
