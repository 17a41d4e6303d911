import type { CopiedRow } from '../../copy/parts.ts';
import { encodeRow } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import { NamedValues } from '../count/named-values.ts';
import { countLabelers } from '../write/commit.ts';
import { SourceNumbers } from '../write/source-numbers.ts';
import { tableRows } from './rows.ts';

/**
 * Recomputes the labeler counters of a day from all its rows. In an embedded store, the labeler counters may omit the
 * first rows of a day, because an earlier version accepted them. A database store cannot record such an omission.
 */
export async function recountLabelers(queries: Queries, day: number): Promise<void> {
  await queries.run('DELETE FROM labeler_count WHERE day = $1', [day]);
  const sources = new SourceNumbers();
  const named = new NamedValues(day);
  await tableRows(queries, day, { after: -1, isOrdered: true }, async (rows: readonly CopiedRow[]) => {
    await sources.load(queries, new Set(rows.map(({ observation }) => observation.label.src)));
    const encoded = rows.map(({ at, observation, identity }) =>
      encodeRow(at, sources.of(observation.label.src), observation, identity),
    );
    await named.load(queries, new Set(encoded.map(({ source }) => source)));
    await countLabelers(queries, { day, rows: encoded, isNamed: (source, value) => named.isNamed(source, value) });
  });
}
