import type { Cursors } from './cursor.ts';
import { parseParameters } from './parameters.ts';
import type { Cursor } from './snapshot.ts';

/** A cursor of the kind that a path takes. */
export interface AskedCursor<K extends Cursor['kind']> {
  readonly kind: 'cursor';
  readonly cursor: Extract<Cursor, { kind: K }>;
}

/** A query that is not a cursor of its path's kind, alone; with what to do, where more can be told than the code does. */
export interface CursorRefusal {
  readonly kind: 'refused';
  readonly code: 'invalid_cursor' | 'unknown_parameter';
  readonly message?: string;
}

/** The cursor of a query string, or why it is refused; null when the query names none. */
export function askedCursor<K extends Cursor['kind']>(
  search: string,
  kind: K,
  cursors: Cursors,
): AskedCursor<K> | CursorRefusal | null {
  const parameters = parseParameters(search);
  if (!parameters?.has('cursor')) return null;
  if (parameters.size > 1) return { kind: 'refused', code: 'unknown_parameter', message: carriesItsQuery };
  const text = parameters.get('cursor') ?? null;
  const cursor = text === null ? null : cursors.open(text);
  if (cursor === null) return { kind: 'refused', code: 'invalid_cursor' };
  if (isOf(cursor, kind)) return { kind: 'cursor', cursor };
  return { kind: 'refused', code: 'invalid_cursor', message: elsewhere[cursor.kind] };
}

const carriesItsQuery = 'A cursor contains its whole query: send it as the only parameter, or omit it for a new query.';

/** A cursor of the other path: where it belongs. */
const elsewhere = {
  export:
    'This cursor belongs to an export, whose pages are at /exports. /download accepts only the cursor of an account page.',
  snapshot:
    'This cursor belongs to an account page, for /download. An export starts at /exports with did and without a cursor.',
} as const satisfies Record<Cursor['kind'], string>;

function isOf<K extends Cursor['kind']>(cursor: Cursor, kind: K): cursor is Extract<Cursor, { kind: K }> {
  return cursor.kind === kind;
}
