import { type Micros, parseInstant } from '../../contract/timestamp.ts';
import { type Language, languageOf, languageParameter } from '../../web/language/language.ts';
import {
  type AskedQuery,
  type Parameters,
  parseParameters,
  type QueryRefusal,
  readAccountQuery,
} from '../query/query.ts';
import { beforeParameter } from './links.ts';

/**
 * Query of a page. `before` is the position at which the list continues, or null for the newest rows. `selected` is
 * the language selected by the query, or null if the query selects no language.
 */
export interface PageQuery {
  readonly kind: 'page';
  readonly query: AskedQuery;
  readonly before: Micros | null;
  readonly selected: Language | null;
}

/** Parses the query string of an account's page. Returns the error code if the query is invalid. */
export function parsePageQuery(
  search: string,
): PageQuery | { readonly kind: 'refused'; readonly code: QueryRefusal | 'invalid_cursor' } {
  const parsed = readAccountQuery(trimmed(parseParameters(search)), [beforeParameter, languageParameter]);
  if (parsed.kind === 'refused') return parsed;
  const { query, more } = parsed;
  // Ignore an unknown language instead of refusing the page, because the language does not affect the data.
  const selected = languageOf(more.get(languageParameter));
  if (!more.has(beforeParameter)) return { kind: 'page', query, before: null, selected };
  const before = parseInstant(more.get(beforeParameter) ?? '');
  // Only a list of a single target kind can continue at a position. A page with all three lists always shows the newest
  // rows.
  if (before === null || query.filters.target_kind === undefined) return { kind: 'refused', code: 'invalid_cursor' };
  return { kind: 'page', query, before, selected };
}

/** Parameters that are not trimmed here: label values are compared exactly, and the route trims the account. */
const asTyped: readonly string[] = ['did', 'value'];

/**
 * Returns the parameters without the surrounding white space that typing or pasting into a field may add. Omits
 * parameters that contain only white space.
 */
function trimmed(parameters: Parameters | null): Parameters | null {
  if (parameters === null) return null;
  const texts = [...parameters].map(([name, text]): [string, string | null] => [
    name,
    asTyped.includes(name) ? text : (text?.trim() ?? null),
  ]);
  return new Map(texts.filter(([, text]) => text !== ''));
}
