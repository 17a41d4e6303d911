import type { Micros } from '../../../contract/timestamp.ts';
import { assertRosterBounds } from '../../common/definition-space.ts';
import { StoreError } from '../../errors.ts';
import { labelerHandle, type RosterRow } from '../../roster.ts';
import type { Queries } from '../base/session.ts';

interface LabelerRecord extends Omit<RosterRow, 'provenance' | 'handle'> {
  readonly provenance: string;
  readonly handle: string | null;
  readonly confirmed: boolean;
}

/** Columns of the table with their types, in the order of `valuesOf`. */
const columns = [
  ['did', 'text'],
  ['origin', 'text'],
  ['provenance', 'text'],
  ['enrolled', 'boolean'],
  ['resolution_status', 'text'],
  ['endpoint', 'text'],
  ['handle', 'text'],
  ['handle_confirmed', 'boolean'],
  ['state', 'text'],
  ['state_since', 'bigint'],
  ['first_asked', 'bigint'],
  ['first_answered', 'bigint'],
  ['last_answered', 'bigint'],
  ['failing_since', 'bigint'],
  ['complete_through', 'bigint'],
  ['dated', 'boolean'],
  ['undated', 'boolean'],
] as const;

/** Returns all roster rows, sorted by DID. */
export async function readRoster(queries: Queries): Promise<RosterRow[]> {
  const rows = await queries.rows<LabelerRecord>(
    `SELECT did, origin, provenance, enrolled, resolution_status AS "resolutionStatus", endpoint, handle,
     handle_confirmed AS confirmed, state, state_since AS "stateSince", first_asked AS "firstAsked",
     first_answered AS "firstAnswered", last_answered AS "lastAnswered", failing_since AS "failingSince",
     complete_through AS "completeThrough", dated, undated FROM labeler ORDER BY did`,
  );
  return rows.map(({ provenance, handle, confirmed, ...row }) => ({
    ...row,
    provenance: textsIn(provenance),
    handle: labelerHandle(handle, confirmed),
  }));
}

/** Adds or replaces roster rows. */
export async function putRoster(queries: Queries, rows: readonly RosterRow[]): Promise<void> {
  for (const row of rows) assertRosterBounds(row);
  const last = [...new Map(rows.map((row) => [row.did, row])).values()];
  if (last.length === 0) return;
  const values = last.map(valuesOf);
  const names = columns.map(([name]) => name);
  await queries.run(
    `INSERT INTO labeler(${names.join(', ')})
     SELECT * FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')})
     ON CONFLICT (did) DO UPDATE SET ${names.slice(1).map((name) => `${name} = excluded.${name}`)}`,
    columns.map((_, i) => values.map((row) => row[i] ?? null)),
  );
}

/** Removes labelers with their keys. */
export async function dropRoster(queries: Queries, dids: readonly string[]): Promise<void> {
  await queries.run('DELETE FROM labeler WHERE did = ANY ($1::text[])', [dids]);
  await queries.run('DELETE FROM label_key WHERE did = ANY ($1::text[])', [dids]);
}

function valuesOf(row: RosterRow): readonly (string | number | boolean | Micros | null)[] {
  const { did, origin, endpoint, resolutionStatus, handle, state, stateSince } = row;
  const { firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough } = row;
  return [
    ...[did, origin, JSON.stringify(row.provenance), row.enrolled, resolutionStatus, endpoint],
    ...[handle?.name ?? null, handle?.confirmed ?? false, state, stateSince],
    ...[firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough, row.dated, row.undated],
  ];
}

function textsIn(json: string): readonly string[] {
  const texts: unknown = JSON.parse(json);
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw new StoreError('damaged', 'the provenance of a labeler is not a list of strings');
}
