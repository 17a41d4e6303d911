import type { Cursors } from '../cursor/cursor.ts';
import { parseParameters } from '../query/parameters.ts';
import type { Cursor } from '../query/snapshot.ts';

/** A decoded cursor of the kind that a route accepts. */
export interface AskedCursor<K extends Cursor['kind']> {
  readonly kind: 'cursor';
  readonly cursor: Extract<Cursor, { kind: K }>;
}

/** Refusal of a query because of its cursor. `message` is set if it is more specific than the message of the code. */
export interface CursorRefusal {
  readonly kind: 'refused';
  readonly code: 'invalid_cursor' | 'unknown_parameter';
  readonly message?: string;
}

/**
 * Decodes the cursor in a query string. Returns a refusal if the cursor is invalid, belongs to another route, or is not
 * the only parameter. Returns null if the query has no cursor or cannot be parsed.
 */
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

/** Messages for cursors of the wrong kind, by the kind of the cursor. */
const elsewhere = {
  export:
    'This cursor belongs to an export, whose pages are at /exports. /download accepts only the cursor of an account page.',
  snapshot:
    'This cursor belongs to an account page and is valid only at /download. To start an export, request /exports with did and no cursor.',
} as const satisfies Record<Cursor['kind'], string>;

function isOf<K extends Cursor['kind']>(cursor: Cursor, kind: K): cursor is Extract<Cursor, { kind: K }> {
  return cursor.kind === kind;
}
