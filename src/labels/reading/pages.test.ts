import { describe, expect, test } from 'vitest';
import type { HttpClient } from '../../network/http/http.ts';
import { fingerprint } from '../label/label-fields.ts';
import { fingerprintIn, lastRowStatus, markOf, newRowsOf, queryLabels } from './pages.ts';

/** Returns the page that is read from a response with this body. */
function pageOf(value: unknown) {
  const getJson = () => Promise.resolve({ kind: 'json', status: 200, date: null, value } as const);
  const http = { getJson } as unknown as HttpClient;
  const options = { limit: 250, timeoutMs: 1_000, signal: new AbortController().signal };
  return queryLabels(http, 'https://labeler.example', 0, options);
}

test.each<[string, unknown, readonly unknown[], string | null]>([
  ['a text as cursor', { labels: [1], cursor: '7' }, [1], '7'],
  ['a number as cursor', { labels: [1], cursor: 7 }, [1], '7'],
  ['null as cursor', { labels: [1], cursor: null }, [1], null],
  ['a fraction as cursor', { labels: [1], cursor: 7.5 }, [1], null],
  ['no cursor', { labels: [1] }, [1], null],
  ['null as the empty list of labels', { labels: null, cursor: '7' }, [], '7'],
])('a page may have %s', async (_, value, labels, cursor) => {
  expect(await pageOf(value)).toEqual({ kind: 'page', labels, cursor });
});

test.each([[null], [[]], [{}], [{ cursor: '7' }], [{ labels: {} }], [{ labels: 'none' }], [{ error: 'NotFound' }]])(
  'a response with the body %j is no page, so that it does not end the reading',
  async (value) => {
    expect(await pageOf(value)).toMatchObject({ kind: 'fault', fault: 'rejecting' });
  },
);

const src = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

function row(val: string, over: Readonly<Record<string, unknown>> = {}): unknown {
  return { src, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val, cts: '2026-01-02T03:04:05.000Z', ...over };
}

const last = row('spam');
const mark = markOf(last);
const replacement = row('spam', { neg: true, cts: '2026-01-02T03:05:00.000Z' });
const other = row('rude');

describe('the last row that was read', () => {
  const rest = { isRest: true, fingerprintAtNumber: null };

  test('is present if a page contains it, even if it was signed again or follows other rows', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [last] })).toBe('present');
    expect(lastRowStatus(mark, { ...rest, labels: [other, row('spam', { sig: { $bytes: 'AAAA' } })] })).toBe('present');
  });

  test('is replaced if a page contains a newer row with the same key', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [other, replacement] })).toBe('replaced');
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: null, labels: [other, replacement] })).toBe(
      'replaced',
    );
  });

  test.each([
    ['another value', other],
    ['another labeler', row('spam', { src: 'did:plc:cccccccccccccccccccccccc', neg: true })],
    ['another subject', row('spam', { uri: 'did:plc:cccccccccccccccccccccccc' })],
    ['another version of a record', row('spam', { cid: 'bafyreib2rxk3rh6kzwq', neg: true })],
    ['fields that are not a label', { val: 'spam' }],
  ])('is gone if the page contains only a newer row with %s', (_, label) => {
    expect(lastRowStatus(mark, { ...rest, labels: [label] })).toBe('gone');
  });

  test('is gone if the page is empty', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [] })).toBe('gone');
  });

  test('is gone if a different row has its number, even if both rows have the same key', () => {
    expect(
      lastRowStatus(mark, { isRest: true, fingerprintAtNumber: fingerprint(replacement), labels: [replacement] }),
    ).toBe('gone');
  });

  test('is present even if the page omits it, provided that a look-up of its number returns it', () => {
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: fingerprint(last), labels: [other] })).toBe(
      'present',
    );
  });

  test('has an unknown status after a full page that omits it, because a replacement might follow', () => {
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: null, labels: [other] })).toBe('unknown');
  });

  test('has an unknown status if its mark has no key, because an earlier version wrote the mark or the row is not a label', () => {
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [other] })).toBe('unknown');
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [replacement] })).toBe('unknown');
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [last] })).toBe('present');
    expect(lastRowStatus(markOf({ val: 'spam' }), { ...rest, labels: [{ val: 'rude' }] })).toBe('unknown');
  });
});

describe('the first frame of a resumed stream', () => {
  test('yields only the rows after the last row that was read', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [last])).toEqual([]);
    expect(newRowsOf({ seq: 5, tail: mark }, 7, [last, other])).toEqual([other]);
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [row('more'), last])).toEqual([]);
    expect(newRowsOf({ seq: 5, tail: null }, 5, [])).toEqual([]);
    expect(newRowsOf({ seq: 5, tail: fingerprintIn(mark) }, 5, [last])).toEqual([]);
  });

  test('yields all other rows if its number is later, because their order in the frame proves nothing', () => {
    const more = row('more');
    expect(newRowsOf({ seq: 5, tail: mark }, 7, [more, last, other])).toEqual([more, other]);
  });

  test('yields a replacement of the last row, with a later number, as a new row', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 6, [replacement])).toEqual([replacement]);
  });

  test('indicates a replaced database if a different row has the last number, even if both rows have the same key', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [other])).toBe('another');
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [replacement])).toBe('another');
  });

  test('is incomplete if it contains neither the last row nor its replacement', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 6, [other])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: mark }, 4, [last])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [other, row('more')])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: null }, 6, [other])).toBe('missing');
    // The last frame had no label, so these labels were never read.
    expect(newRowsOf({ seq: 5, tail: null }, 5, [other, row('more')])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: null }, 5, [other])).toBe('missing');
  });
});
