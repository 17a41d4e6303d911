import { rowColumns } from '../schema/day-schema.ts';
import type { Key } from './blocks.ts';
import type { Cell } from './checksum.ts';

/** Name of the part of a sealed day that contains the rows. */
export const rowPart = 'observation';

/** SQL of a part's rows in key order, with the names of the key's columns. */
export const partSql = {
  observation: { columns: rowColumns, table: 'observation', key: 'subject, id' },
  source: { columns: 'name, id', table: 'source', key: 'name' },
  val: { columns: 'name, id', table: 'val', key: 'name' },
  collection: { columns: 'name, id', table: 'collection', key: 'name' },
} as const;

/** A part of a sealed day that is divided into blocks. */
export type BlockPart = keyof typeof partSql;

/** Returns the key of a row of a part. */
export function keyIn(part: BlockPart, row: readonly Cell[]): Key {
  return part === rowPart ? [row[1] as Key[0], row[0] as number] : [row[0] as string, 0];
}
