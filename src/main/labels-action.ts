import { statSync } from 'node:fs';
import { OperatorError } from '../ops/errors.ts';
import type { Values } from '../ops/setting.ts';
import { parseStoreUrl } from '../store/open.ts';
import type { CommandContext } from './command.ts';
import type { labelsSettings } from './labels-settings.ts';

/** The settings of `almanac labels`, resolved. */
export type LabelsValues = Values<typeof labelsSettings>;

/** An action of `almanac labels`: resolves with the exit code. `operands` are the words after its name. */
export type LabelsAction = (
  values: LabelsValues,
  print: CommandContext['print'],
  operands: readonly string[],
) => Promise<number>;

/** The directory of the store at a URL. Throws an OperatorError where there is none, so that a slip is not taken for one. */
export function storeFolder(url: string): string {
  const { folder } = parseStoreUrl(url);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new OperatorError(`${folder} contains no store; set it with --store sqlite:DIR`);
}
