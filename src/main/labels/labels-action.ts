import { statSync } from 'node:fs';
import { OperatorError } from '../../ops/errors.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { companionFolder, parseStoreUrl } from '../../store/open.ts';
import type { labelsSettings } from './labels-settings.ts';

/** Resolved settings of `almanac labels`. */
type LabelsValues = Values<typeof labelsSettings>;

/**
 * Runs one action of `almanac labels` and resolves with the exit code. `operands` are the arguments after the action's
 * name. Rejects with OperatorError if the action cannot be carried out.
 */
export type LabelsAction = (
  values: LabelsValues,
  print: (line: string) => void,
  operands: readonly string[],
) => Promise<number>;

/**
 * Returns the directory of the files that accompany the store. Throws OperatorError if the directory does not exist,
 * because its name may be mistyped.
 */
export function storeFolder({ store, state }: Pick<LabelsValues, 'store' | 'state'>): string {
  const folder = companionFolder(store, state);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  if (parseStoreUrl(store).kind === 'postgres') {
    throw new OperatorError(`${folder} is not a directory; set the directory of the instrument with --state DIR`);
  }
  throw new OperatorError(`${folder} contains no store; set it with --store sqlite:DIR`);
}

/**
 * Opens a store, or works on one, with `work`. Converts a StoreError to a one-line OperatorError, and rethrows any other
 * error.
 */
export async function opened<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`cannot open the store ${url}: ${error.message}`);
  }
}
