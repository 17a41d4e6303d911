import type { Sqlite } from '../base/connection.ts';
import { keyIn, partSql, rowPart } from './block-parts.ts';
import { type Block, blocksOf, edgeOf } from './blocks.ts';
import type { Cell } from './checksum.ts';
import { sumsOfDay } from './group-sums.ts';

/** Tables in which a day stores each distinct text once. Each table is a separate part. */
const nameTables = ['source', 'val', 'collection'] as const;

/** Computes and stores the checksums of an otherwise complete sealed day. */
export function keepChecksums(db: Sqlite, day: number): void {
  const insertBlock = db.prepare(
    'INSERT INTO main.block(part, subject, id, "index", rows, sum, edge) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const part of [rowPart, ...nameTables] as const) {
    const { columns, table, key } = partSql[part];
    const rows = db.prepare<[], Cell[]>(`SELECT ${columns} FROM main.${table} ORDER BY ${key}`).raw();
    // Collect the blocks first: the connection cannot write while a query is running.
    const blocks = [...blocksOf(part, rows.iterate(), (row) => keyIn(part, row))];
    db.transaction((all: readonly Block[]) => {
      for (const block of all) {
        insertBlock.run(part, ...block.first, block.index, block.rows, block.sum, edgeOf(day, block));
      }
    })(blocks);
  }
  const insertSum = db.prepare('INSERT INTO main.group_sum(part, key, sum) VALUES (?, ?, ?)');
  const all = <Row>(sql: string, parameters: readonly unknown[]): Row[] =>
    db
      .prepare<unknown[], Row>(sql)
      .raw()
      .all(...parameters);
  db.transaction(() => {
    for (const sum of sumsOfDay(all, day)) insertSum.run(...sum);
  })();
}
