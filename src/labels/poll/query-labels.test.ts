import { expect, test } from 'vitest';
import type { HttpClient } from '../../network/http/http.ts';
import { queryLabels } from './query-labels.ts';

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
