import { OperatorError } from '../../ops/errors.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { openStoreReader, repair } from '../../store/open.ts';
import type { DayReport } from '../../store/port.ts';
import type { CommandContext } from '../command.ts';
import type { labelsSettings } from './labels-settings.ts';
import { opened } from './opened-store.ts';

type Print = CommandContext['print'];

/**
 * Recomputes every counter from the rows and compares every checksum. `--repair` rewrites the derived data. Resolves
 * with 1 if a difference remains, and otherwise with 0. Rejects with OperatorError if the store cannot be read.
 */
export async function verify(values: Values<typeof labelsSettings>, print: Print): Promise<number> {
  const { store: url } = values;
  let problems = 0;
  let unverified = 0;
  let repaired = 0;
  try {
    for await (const { day, repaired: gone } of values.repair ? repair(url, {}) : readReports(url)) {
      for (const line of linesOf(day, gone)) print(line);
      problems += day.problems.length;
      unverified += day.unverified ? 1 : 0;
      repaired += gone.length;
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`the store ${url} cannot be verified: ${error.message}`);
  }
  if (repaired > 0) print(`repaired problems: ${repaired}`);
  if (unverified > 0)
    print(
      `unverified days: ${unverified}; almanac labels adds their checksums in the background, and --repair adds them now`,
    );
  if (problems > 0 && values.repair) print('the remaining problems cannot be repaired from the rows: restore a backup');
  print(problems === 0 ? 'every counter matches its rows' : `problems: ${problems}`);
  return problems === 0 ? 0 : 1;
}

async function* readReports(url: string) {
  const store = await opened(url, () => openStoreReader(url));
  try {
    for await (const day of store.verify()) yield { day, repaired: [] };
  } finally {
    await store.close();
  }
}

function linesOf({ day, sealed, unverified, rows, problems }: DayReport, repaired: readonly string[]): string[] {
  const verdict = `${unverified ? ' unverified' : ''}${problems.length === 0 ? ' in order' : ''}`;
  return [
    `${day} ${sealed ? 'sealed' : 'open'} ${rows} rows${verdict}`,
    ...repaired.map((problem) => `  repaired: ${problem}`),
    ...problems.map((problem) => `  ${problem}`),
  ];
}
