import { expect, it } from 'vitest';
import { parseStoreUrl } from './open.ts';

it.each([
  ['sqlite:data/store', 'data/store'],
  ['sqlite:/var/lib/almanac/store', '/var/lib/almanac/store'],
  ['sqlite:.', '.'],
])('the store URL %s names the directory %s', (url, folder) => {
  expect(parseStoreUrl(url)).toEqual({ kind: 'sqlite', folder });
});

it.each([['sqlite:'], ['sqlite://data'], ['data/store'], ['mysql://host/db'], ['']])(
  'the text %j is refused as a store URL',
  (url) => {
    expect(() => parseStoreUrl(url)).toThrowError(expect.objectContaining({ name: 'OperatorError' }));
  },
);
