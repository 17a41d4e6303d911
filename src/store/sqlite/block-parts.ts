import type { Key } from './blocks.ts';
import type { Cell } from './checksum.ts';
import { rowColumns } from './day-schema.ts';

/** Name of the part that holds the rows. */
export const rowPart = 'observation';

/** SQL of a part's rows in the order of their key, the key's columns named. */
export const partSql = {
  observation: { columns: rowColumns, table: 'observation', key: 'subject, id' },
  source: { columns: 'name, id', table: 'source', key: 'name' },
  val: { columns: 'name, id', table: 'val', key: 'name' },
  collection: { columns: 'name, id', table: 'collection', key: 'name' },
} as const;

/** A part of a sealed day that is cut into blocks. */
export type BlockPart = keyof typeof partSql;

/** The key of a row of a part. */
export function keyIn(part: BlockPart, row: readonly Cell[]): Key {
  return part === rowPart ? [row[1] as Key[0], row[0] as number] : [row[0] as string, 0];
}
