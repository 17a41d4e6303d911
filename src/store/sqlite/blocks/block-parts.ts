import { rowColumns } from '../schema/day-schema.ts';
import type { Key } from './blocks.ts';
import type { Cell } from './checksum.ts';

/** Name of the part that contains the rows of a sealed day. */
export const rowPart = 'observation';

/** Columns, table and key of each part that is divided into blocks, for use in SQL. */
export const partSql = {
  observation: { columns: rowColumns, table: 'observation', key: 'subject, id' },
  source: { columns: 'name, id', table: 'source', key: 'name' },
  val: { columns: 'name, id', table: 'val', key: 'name' },
  collection: { columns: 'name, id', table: 'collection', key: 'name' },
} as const;

/** A part of a sealed day that is divided into blocks. */
export type BlockPart = keyof typeof partSql;

/** Returns the key of a row in the given part. */
export function keyIn(part: BlockPart, row: readonly Cell[]): Key {
  return part === rowPart ? [row[1] as Key[0], row[0] as number] : [row[0] as string, 0];
}
