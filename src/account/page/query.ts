import { type Micros, parseInstant } from '../../contract/timestamp.ts';
import { type Parameters, parseParameters } from '../parameters.ts';
import { type AskedQuery, type QueryRefusal, readAccountQuery } from '../query.ts';
import { beforeParameter } from './links.ts';

/** Query of a page, and the position at which its list continues (null: with the newest). */
export interface PageQuery {
  readonly kind: 'page';
  readonly query: AskedQuery;
  readonly before: Micros | null;
}

/** Reads the query string of an account's page. */
export function parsePageQuery(
  search: string,
): PageQuery | { readonly kind: 'refused'; readonly code: QueryRefusal | 'invalid_cursor' } {
  const parsed = readAccountQuery(trimmed(parseParameters(search)), [beforeParameter]);
  if (parsed.kind === 'refused') return parsed;
  const { query, more } = parsed;
  if (!more.has(beforeParameter)) return { kind: 'page', query, before: null };
  const before = parseInstant(more.get(beforeParameter) ?? '');
  // Only the list of one kind of subject goes on: the three of the first page begin with their newest.
  if (before === null || query.filters.target_kind === undefined) return { kind: 'refused', code: 'invalid_cursor' };
  return { kind: 'page', query, before };
}

/** A value is compared exactly; an account is led to its name as it is written. */
const asTyped: readonly string[] = ['did', 'value'];

/** Without the outer white space that comes along when something is typed or pasted into a field. */
function trimmed(parameters: Parameters | null): Parameters | null {
  if (parameters === null) return null;
  const texts = [...parameters].map(([name, text]): [string, string | null] => [
    name,
    asTyped.includes(name) ? text : (text?.trim() ?? null),
  ]);
  return new Map(texts.filter(([, text]) => text !== ''));
}
