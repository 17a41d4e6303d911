import type { Preparation } from '../../artifact/labelers/labelers-source.ts';
import type { LabelerSummary } from '../../contract/labelers.ts';
import { type LabelerState, labelerStates } from '../../contract/vocabulary.ts';
import { listConclusion, listedSummary } from './project-labeler.ts';

/** Sort orders that the page `/labelers` offers. */
export const sortKeys = ['events', 'name', 'state', 'since', 'read'] as const;
/** Sort order of the list on the page `/labelers`. */
export type SortKey = (typeof sortKeys)[number];

/** List of all labelers, prepared once per artifact, so that a request only has to select from it. */
export interface Catalogue {
  /** Entries in the order of the artifact and of the JSON document. */
  readonly entries: readonly LabelerSummary[];
  /** Indices of the entries in each sort order. */
  readonly orders: Readonly<Record<SortKey, Uint16Array>>;
  /** Lower-case search texts of all entries. */
  readonly search: SearchIndex;
  readonly states: Readonly<Record<LabelerState, number>>;
  readonly conclusion: string;
  /** All entries as one serialized JSON array, in consecutive parts. */
  readonly json: readonly Buffer[];
}

/** Number of entries that are encoded together. */
const groupEntries = 100;

/**
 * Creates a preparation that builds the catalogue from the lines of an artifact. If the privacy scan finds an identity
 * in an entry, the handle of that entry is withheld. `alarm` is called with the location of the identity, never with
 * its text.
 */
export function prepareCatalogue(alarm: (leak: string) => void): Preparation<Catalogue> {
  const entries: LabelerSummary[] = [];
  // Encode the entries in groups during the visits: encoding all entries at once would block the event loop for 30 ms.
  const groups: Buffer[] = [];
  let texts: string[] = [];

  function encodeGroup(): void {
    if (texts.length === 0) return;
    groups.push(Buffer.from(`${groups.length === 0 ? '[' : ','}${texts.join(',')}`));
    texts = [];
  }

  return {
    visit(line, header) {
      const entry = listedSummary(line, header, entries.length, alarm);
      entries.push(entry);
      texts.push(JSON.stringify(entry));
      if (texts.length === groupEntries) encodeGroup();
    },
    async finish({ header: { omitted } }, sliceEnd) {
      const pause = async (): Promise<void> => {
        const ended = sliceEnd();
        if (ended) await ended;
      };
      await pause();
      encodeGroup();
      const json = [...groups, Buffer.from(groups.length === 0 ? '[]' : ']')];
      const names = entries.map(nameOf);
      await pause();
      const search = indexTexts(entries.map(({ did }, index) => `${names[index]}\n${did}`.toLowerCase()));
      const orders: Partial<Record<SortKey, Uint16Array>> = {};
      for (const key of sortKeys) {
        await pause();
        orders[key] = orderBy(key, entries, names);
      }
      await pause();
      const states = Object.fromEntries(labelerStates.map((state) => [state, 0])) as Record<LabelerState, number>;
      for (const { state } of entries) states[state] += 1;
      const complete = entries.filter(isComplete).length;
      const enrolled = entries.filter((entry) => entry.enrolled).length;
      const conclusion = listConclusion({ enrolled, complete, omitted });
      return { entries, orders: orders as Record<SortKey, Uint16Array>, search, states, conclusion, json };
    },
  };
}

function isComplete({ enrolled, state, unread_days_7d: unread }: LabelerSummary): boolean {
  return enrolled && state === 'established' && unread === 0;
}

/** Returns the name under which a labeler is listed: its handle or, without one, its DID. */
export function nameOf({ handle, did }: Pick<LabelerSummary, 'handle' | 'did'>): string {
  return handle === null ? did : handle.name.toLowerCase();
}

const stateRank: ReadonlyMap<string, number> = new Map(labelerStates.map((state, rank) => [state, rank]));

/** Returns the indices of the entries in a sort order. Entries that compare equal remain sorted by DID. */
function orderBy(key: SortKey, entries: readonly LabelerSummary[], names: readonly string[]): Uint16Array {
  const indices = Uint16Array.from(entries, (_, index) => index);
  if (key === 'name') {
    // The prefix sorts labelers without a handle after those with one.
    const texts = entries.map(({ handle }, index) => `${handle === null ? 1 : 0}${names[index]}`);
    return indices.sort((a, b) => compareTexts(texts[a] ?? '', texts[b] ?? '') || a - b);
  }
  const ranks = Float64Array.from(entries, (entry) => rankOf(key, entry));
  return indices.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b);
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the sort key of an entry; entries with smaller keys come first. */
function rankOf(key: Exclude<SortKey, 'name'>, entry: LabelerSummary): number {
  switch (key) {
    case 'events':
      return -(entry.events.week ?? 0);
    case 'state':
      return stateRank.get(entry.state) ?? labelerStates.length;
    case 'since':
      return -Date.parse(entry.state_since);
    case 'read':
      return entry.last_answered === null ? Number.MAX_VALUE : -Date.parse(entry.last_answered);
  }
}

/** Maximum length of a search text, in bytes of UTF-8. */
export const maxSearchBytes = 64;
/** Number of labelers on one page of the list. */
export const pageSize = 50;

/** A query of the page `/labelers`. No other path of the facts API evaluates a query. */
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

/** Separator of the joined strings. A search text with a line feed matches nothing, so no match spans two strings. */
const separator = '\n';

/**
 * Search index of strings. The strings are joined, because one search of a long string is faster than many short
 * searches.
 */
interface SearchIndex {
  /** Returns 1 for each string that contains the search text, and 0 for every other string. */
  matches(wanted: string): Uint8Array;
}

/** Creates the index of strings. A string may consist of several lines, each of which is searched. */
export function indexTexts(texts: readonly string[]): SearchIndex {
  const joined = texts.map((text) => `${text}${separator}`).join('');
  const ends = new Uint32Array(texts.length);
  texts.reduce((at, text, index) => {
    ends[index] = at + text.length + separator.length;
    return at + text.length + separator.length;
  }, 0);
  return {
    matches(wanted) {
      const found = new Uint8Array(texts.length);
      if (wanted.includes(separator)) return found;
      let index = 0;
      for (let at = joined.indexOf(wanted); at >= 0 && index < ends.length; ) {
        while ((ends[index] ?? Number.POSITIVE_INFINITY) <= at) index += 1;
        if (index >= ends.length) break;
        found[index] = 1;
        // Continue after this string, because one match per string suffices.
        at = joined.indexOf(wanted, ends[index]);
      }
      return found;
    },
  };
}
