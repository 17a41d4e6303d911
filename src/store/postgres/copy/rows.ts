import type { CopiedRow, EachChunk } from '../../copy/parts.ts';
import { decodeRow, isLive, type RowRecord, recordColumns } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import { partitionOf } from '../schema/partition.ts';

/** Number of rows per FETCH. */
const rowsAtOnce = 5_000;
/** Maximum time that the copy target may take to store a chunk, in milliseconds. */
const idleMs = 120_000;

/**
 * Reads the rows of a day's table after a stamp, in chunks, in the caller's transaction. The next chunk is fetched
 * while the caller processes the current one. Throws `damaged` for a row that does not match its identity.
 */
export async function tableRows(
  queries: Queries,
  day: number,
  { after, isOrdered }: { readonly after: number; readonly isOrdered: boolean },
  each: EachChunk,
): Promise<void> {
  await queries.run(`SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`);
  await queries.run(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${recordColumns} FROM ${partitionOf(day)} o
     JOIN source s ON s.id = o.source WHERE o.at > ${after} ${isOrdered ? 'ORDER BY o.at' : ''}`,
  );
  const fetch = () => queries.rows<RowRecord>(`FETCH ${rowsAtOnce} FROM copied`);
  let next = fetch();
  for (;;) {
    const rows = await next;
    const isLast = rows.length < rowsAtOnce;
    if (!isLast) {
      next = fetch();
      // Prevent an unhandled rejection; the error is reported when the result is awaited.
      next.catch(() => undefined);
    }
    if (rows.length > 0) await each(rows.map(copiedRow));
    if (isLast) break;
  }
  await queries.run('CLOSE copied');
}

function copiedRow(row: RowRecord): CopiedRow {
  const { observedAt, label, signature } = decodeRow(row);
  return { at: observedAt, observation: { label, signature, live: isLive(row.flags) }, identity: row.identity };
}
