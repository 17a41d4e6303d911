import { expect, it } from 'vitest';
import { parseStoreUrl } from './open.ts';

it.each([
  ['sqlite:data/store', 'data/store'],
  ['sqlite:/var/lib/almanac/store', '/var/lib/almanac/store'],
  ['sqlite:.', '.'],
])('parses the store URL %s as the directory %s', (url, folder) => {
  expect(parseStoreUrl(url)).toEqual({ kind: 'sqlite', folder });
});

it.each([['sqlite:'], ['sqlite://data'], ['data/store'], ['mysql://host/db'], ['']])(
  'refuses the text %j as a store URL',
  (url) => {
    expect(() => parseStoreUrl(url)).toThrowError(expect.objectContaining({ name: 'OperatorError' }));
  },
);
