import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { labelerFixture } from '../../../harness/artifacts/labelers.ts';
import { prepared } from '../../../harness/process/labelers.ts';
import { labelerStates } from '../../contract/vocabulary.ts';
import {
  indexTexts,
  isPlain,
  nameOf,
  pageSize,
  parseListQuery,
  plainQuery,
  queryText,
  selectPage,
  sortKeys,
} from './catalogue.ts';

describe('a query of the labeler list', () => {
  it.each([
    ['/labelers', plainQuery],
    ['/labelers?', plainQuery],
    ['/labelers?x=1&days=7', plainQuery],
    ['/labelers?sort=secret&state=unknown&page=0', plainQuery],
    ['/labelers?page=2&page=3', { ...plainQuery, page: 2 }],
    ['/labelers?q=%20Spam%20&sort=name&state=refused', { ...plainQuery, q: 'Spam', sort: 'name', state: 'refused' }],
  ])('is parsed from %s', (target, query) => {
    expect(parseListQuery(target)).toEqual(query);
  });

  it('discards a search text of more than 64 bytes, even if it has fewer than 64 characters', () => {
    expect(parseListQuery(`/labelers?q=${encodeURIComponent('é'.repeat(32))}`).q).toBe('é'.repeat(32));
    expect(parseListQuery(`/labelers?q=${encodeURIComponent('é'.repeat(33))}`).q).toBe('');
  });

  it('is parsed without an error from any target, and is equal to the original after formatting and parsing', () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), fc.string({ maxLength: 20 }), (search, q) => {
        expect(() => parseListQuery(`/labelers?${search}`)).not.toThrow();
        const query = parseListQuery(`/labelers?q=${encodeURIComponent(q.toWellFormed())}&sort=read&page=3`);
        expect(parseListQuery(`/labelers${queryText(query)}`)).toEqual(query);
        expect(isPlain(query)).toBe(false);
      }),
    );
  });
});

describe('a page of the labeler list', () => {
  const fixture = labelerFixture({ count: 120, seed: 3 });

  it('lists, together with the other pages, every labeler exactly once in every sort order', async () => {
    const { prepared: catalogue } = await prepared(fixture);
    for (const sort of sortKeys) {
      const pages = [1, 2, 3].map((page) => selectPage(catalogue, { ...plainQuery, sort, page }));
      expect(pages.map(({ shown }) => shown.length)).toEqual([pageSize, pageSize, 20]);
      expect(new Set(pages.flatMap(({ shown }) => shown)).size).toBe(120);
    }
  });

  it('is sorted as requested', async () => {
    const { prepared: catalogue } = await prepared(fixture);
    const { entries } = catalogue;
    const sorted = (sort: (typeof sortKeys)[number]) =>
      [1, 2, 3].flatMap((page) =>
        selectPage(catalogue, { ...plainQuery, sort, page }).shown.flatMap((index) => entries[index] ?? []),
      );
    const weeks = sorted('events').map(({ events }) => events.week ?? 0);
    expect(weeks).toEqual(weeks.toSorted((a, b) => b - a));
    const handles = sorted('name').map(({ handle }) => handle !== null);
    expect(handles).toEqual([...handles.filter((has) => has), ...handles.filter((has) => !has)]);
    const names = sorted('name').map(nameOf);
    const named = handles.filter((has) => has).length;
    expect(names).toEqual([...names.slice(0, named).toSorted(), ...names.slice(named).toSorted()]);
    const ranks = sorted('state').map(({ state }) => labelerStates.indexOf(state));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    expect(new Set(ranks).size).toBeGreaterThan(2);
    expect(sorted('state')[0]?.state).toBe('established');
    const since = sorted('since').map(({ state_since }) => Date.parse(state_since));
    expect(since).toEqual(since.toSorted((a, b) => b - a));
    // A labeler that was never read comes last.
    const read = sorted('read').map(({ last_answered: at }) => (at === null ? 0 : Date.parse(at)));
    expect(read).toEqual(read.toSorted((a, b) => b - a));
    expect(read.at(-1)).toBe(0);
  });

  it('states the number of labelers that match both the search text and the state', async () => {
    const { prepared: catalogue } = await prepared(fixture);
    const { entries } = catalogue;
    fc.assert(
      fc.property(fc.constantFrom('LABELER-1', '@labeler-2', 'did:plc:a', 'zzz', ''), fc.boolean(), (q, refused) => {
        const query = { ...plainQuery, q, state: refused ? ('refused' as const) : null };
        const text = q.toLowerCase().replace('@', '');
        const wanted = entries.filter(
          (entry) =>
            (entry.did.includes(text) || entry.handle?.name.includes(text) === true) &&
            (!refused || entry.state === 'refused'),
        );
        expect(selectPage(catalogue, query).found).toBe(wanted.length);
      }),
    );
  });

  it('is the last page if the requested page does not exist', async () => {
    const { prepared: catalogue } = await prepared(fixture);
    expect(selectPage(catalogue, { ...plainQuery, page: 9999 })).toMatchObject({ page: 3, pages: 3 });
  });
});

const line = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '.', ' '), maxLength: 6 });

test('a search finds exactly the texts with a line that contains the search text', () => {
  fc.assert(
    fc.property(fc.array(fc.array(line, { minLength: 1, maxLength: 2 }), { maxLength: 20 }), line, (texts, wanted) => {
      const found = indexTexts(texts.map((lines) => lines.join('\n'))).matches(wanted);
      expect([...found]).toEqual(texts.map((lines) => (lines.some((one) => one.includes(wanted)) ? 1 : 0)));
    }),
  );
});

test('no match spans two texts, even if the search text contains a line feed', () => {
  const index = indexTexts(['ab', 'cd']);
  expect([...index.matches('bc')]).toEqual([0, 0]);
  expect([...index.matches('b\nc')]).toEqual([0, 0]);
  expect([...index.matches('\n')]).toEqual([0, 0]);
});
