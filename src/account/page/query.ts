import { type Micros, parseInstant } from '../../contract/timestamp.ts';
import { type AskedQuery, parseAccountQuery, type QueryRefusal } from '../query.ts';
import { beforeParameter } from './links.ts';

/** What a page is asked for: the query, and where its list goes on (null: with the newest). */
export interface PageQuery {
  readonly kind: 'page';
  readonly query: AskedQuery;
  readonly before: Micros | null;
}

/** Reads the query string of an account's page. */
export function parsePageQuery(
  search: string,
): PageQuery | { readonly kind: 'refused'; readonly code: QueryRefusal | 'invalid_cursor' } {
  const parsed = parseAccountQuery(search, [beforeParameter]);
  if (parsed.kind === 'refused') return parsed;
  const { query, more } = parsed;
  if (!more.has(beforeParameter)) return { kind: 'page', query, before: null };
  const before = parseInstant(more.get(beforeParameter) ?? '');
  // Only the list of one kind of subject goes on: the three of the first page begin with their newest.
  if (before === null || query.filters.target_kind === undefined) return { kind: 'refused', code: 'invalid_cursor' };
  return { kind: 'page', query, before };
}
