import type { Cursors } from './cursor.ts';
import { parseParameters } from './parameters.ts';
import type { Cursor } from './snapshot.ts';

/** A cursor of the kind that a path takes. */
export interface AskedCursor<K extends Cursor['kind']> {
  readonly kind: 'cursor';
  readonly cursor: Extract<Cursor, { kind: K }>;
}

/** The cursor of a query string, or why it is refused; null when the query names none. */
export function askedCursor<K extends Cursor['kind']>(
  search: string,
  kind: K,
  cursors: Cursors,
): AskedCursor<K> | { readonly kind: 'refused'; readonly code: 'invalid_cursor' | 'unknown_parameter' } | null {
  const parameters = parseParameters(search);
  if (!parameters?.has('cursor')) return null;
  if (parameters.size > 1) return { kind: 'refused', code: 'unknown_parameter' };
  const text = parameters.get('cursor') ?? null;
  const cursor = text === null ? null : cursors.open(text);
  return cursor !== null && isOf(cursor, kind)
    ? { kind: 'cursor', cursor }
    : { kind: 'refused', code: 'invalid_cursor' };
}

function isOf<K extends Cursor['kind']>(cursor: Cursor, kind: K): cursor is Extract<Cursor, { kind: K }> {
  return cursor.kind === kind;
}
