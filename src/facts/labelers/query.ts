import { type LabelerState, labelerStates } from '../../contract/vocabulary.ts';
import { type Catalogue, type SortKey, sortKeys } from './catalogue.ts';

/** Query of the page `/labelers`. No other path of the facts API evaluates a query. */

/** Maximum length of a search text, in bytes of UTF-8. */
export const maxSearchBytes = 64;
/** Number of labelers on one page of the list. */
export const pageSize = 50;

/** A query of the labeler list. */
export interface ListQuery {
  /** Search text; empty if the query has none. */
  readonly q: string;
  readonly sort: SortKey;
  readonly state: LabelerState | null;
  /** Page number, starting with 1. */
  readonly page: number;
}

/** Query that shows the first page of the list without filters. */
export const plainQuery: ListQuery = { q: '', sort: 'events', state: null, page: 1 };

/**
 * Parses the query of a request target. Ignores unknown parameters and invalid values, and uses the first of repeated
 * parameters.
 */
export function parseListQuery(target: string): ListQuery {
  const at = target.indexOf('?');
  if (at < 0) return plainQuery;
  const given = new URLSearchParams(target.slice(at + 1));
  const q = (given.get('q') ?? '').trim();
  const sort = sortKeys.find((key) => key === given.get('sort'));
  const state = labelerStates.find((known) => known === given.get('state'));
  const page = /^[1-9][0-9]{0,3}$/.exec(given.get('page') ?? '');
  return {
    q: Buffer.byteLength(q) <= maxSearchBytes ? q : '',
    sort: sort ?? plainQuery.sort,
    state: state ?? null,
    page: page === null ? 1 : Number(page[0]),
  };
}

/** Returns true if the query equals `plainQuery`. */
export function isPlain({ q, sort, state, page }: ListQuery): boolean {
  return q === '' && sort === plainQuery.sort && state === null && page === 1;
}

/** Formats a query as text. The text contains only the parameters that differ from `plainQuery`. */
export function queryText(query: ListQuery): string {
  const parameters = new URLSearchParams();
  if (query.q !== '') parameters.set('q', query.q);
  if (query.sort !== plainQuery.sort) parameters.set('sort', query.sort);
  if (query.state !== null) parameters.set('state', query.state);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** A page of the labeler list. */
export interface ListPage {
  /** Indices of the entries on the page. */
  readonly shown: readonly number[];
  /** Number of entries that match the query. */
  readonly found: number;
  /** Number of this page; at most `pages`. */
  readonly page: number;
  readonly pages: number;
}

/** Selects the requested page, or the last page if the requested one does not exist. */
export function selectPage({ entries, orders, search }: Catalogue, query: ListQuery): ListPage {
  const wanted = query.q.toLowerCase().replace(/^@/, '');
  const found = wanted === '' ? null : search.matches(wanted);
  const order = orders[query.sort];
  const matching =
    found === null && query.state === null
      ? order
      : order.filter(
          (index) =>
            (query.state === null || entries[index]?.state === query.state) && (found === null || found[index] === 1),
        );
  const pages = Math.max(1, Math.ceil(matching.length / pageSize));
  const page = Math.min(query.page, pages);
  return {
    shown: [...matching.subarray((page - 1) * pageSize, page * pageSize)],
    found: matching.length,
    page,
    pages,
  };
}
