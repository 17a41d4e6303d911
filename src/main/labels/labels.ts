import { OperatorError } from '../../ops/errors.ts';
import type { Command } from '../command.ts';
import type { LabelsAction } from './labels-action.ts';
import { labelsSettings } from './labels-settings.ts';

/**
 * One action: its operands in the form that usage and help show, their maximum number, its description and its
 * module.
 */
interface ActionEntry {
  readonly usage?: string;
  readonly optional?: string;
  readonly operands: number;
  readonly does: string;
  readonly load: () => Promise<LabelsAction>;
}

// Load the modules of the actions on demand, because other commands do not need the store.
const operator = async () => (await import('./labels-operator.ts')).operatorActions;
const upkeep = async () => (await import('./labels-upkeep.ts')).upkeepActions;

const many = Number.POSITIVE_INFINITY;

/** Actions by name, in the order of the help. */
const actions: Readonly<Record<string, ActionEntry>> = {
  hold: {
    operands: 0,
    does: 'withhold the label facts: they are refused as held',
    load: async () => (await operator()).hold,
  },
  release: {
    operands: 0,
    does: 'serve the label facts again',
    load: async () => (await operator()).release,
  },
  verify: {
    operands: 0,
    does: 'recompute every counter of the store, and compare every checksum',
    load: async () => (await upkeep()).verify,
  },
  'new-epoch': {
    operands: 0,
    does: 'move the store aside; the next start begins a new epoch',
    load: async () => (await upkeep()).newEpoch,
  },
  restore: {
    usage: 'FROM',
    operands: 1,
    does: 'verify a backup and install it as the store',
    load: async () => (await upkeep()).restoreFrom,
  },
  deny: {
    optional: 'DID-or-domain',
    operands: many,
    does: 'stop reading a labeler, or every labeler of a domain; without operand: list the denials',
    load: async () => (await operator()).deny,
  },
  allow: {
    optional: 'DID-or-domain',
    operands: many,
    does: 'read a denied labeler, or the labelers of a denied domain, again',
    load: async () => (await operator()).allow,
  },
  sources: {
    operands: 0,
    does: 'list the cost of each labeler',
    load: async () => (await upkeep()).sources,
  },
  'hand-over': {
    operands: 0,
    does: 'replace the active instrument with its standby',
    load: async () => (await upkeep()).handOver,
  },
  purge: {
    optional: 'DID',
    operands: many,
    does: 'remove the rows of a denied labeler; without operand: show the progress',
    load: async () => (await operator()).purge,
  },
};
const names = Object.keys(actions);
const usages = Object.entries(actions).map(([name, { usage }]) => [name, usage].filter(Boolean).join(' '));

/** `almanac labels`: the label instrument and its administration. */
export const labelsCommand: Command<typeof labelsSettings> = {
  summary: 'the label instrument: observes every labeler and writes labels-overview.json and the labelers artifact',
  operands: `[${usages.join(' | ')}]`,
  actions: Object.entries(actions).map(([name, { usage, optional, does }]) => ({
    usage: [name, usage ?? optional].filter(Boolean).join(' '),
    does,
  })),
  settings: labelsSettings,
  async run(values, { positionals, print }) {
    const [name, ...operands] = positionals;
    if (name === undefined) return (await import('./labels-process.ts')).observe(values, print, []);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) {
      const known = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
      throw new OperatorError(`unknown action ${JSON.stringify(name)}: use ${known}, or no action to observe`);
    }
    if (operands.length > action.operands) {
      throw new OperatorError(`unexpected ${JSON.stringify(operands[action.operands])} after ${name}`);
    }
    return (await action.load())(values, print, operands);
  },
};
