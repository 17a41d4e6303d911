import { dayName, dayStart } from '../../time.ts';
import type { Queries } from '../base/session.ts';

/** Returns the name of the table with the rows of a day. */
export function partitionOf(day: number): string {
  return `observation_${dayName(day).replaceAll('-', '_')}`;
}

/**
 * Adds the table of a day. Creates the table first and then attaches it, because attaching does not wait for readers,
 * whereas creating a table as a partition does.
 */
export async function addPartition(queries: Queries, day: number): Promise<void> {
  const name = partitionOf(day);
  await queries.run(`CREATE TABLE ${name} (LIKE observation INCLUDING ALL)`);
  const bounds = `FROM (${dayStart(day)}) TO (${dayStart(day + 1)})`;
  await queries.run(`ALTER TABLE observation ATTACH PARTITION ${name} FOR VALUES ${bounds}`);
}
