import { expect, it } from 'vitest';
import { parseStoreUrl } from './open.ts';

it.each([
  ['sqlite:data/store', 'data/store'],
  ['sqlite:/var/lib/almanac/store', '/var/lib/almanac/store'],
  ['sqlite:.', '.'],
])('parseStoreUrl parses %s as the directory %s', (url, folder) => {
  expect(parseStoreUrl(url)).toEqual({ kind: 'sqlite', folder });
});

it.each([['sqlite:'], ['sqlite://data'], ['data/store'], ['mysql://host/db'], ['']])(
  'parseStoreUrl refuses %j',
  (url) => {
    expect(() => parseStoreUrl(url)).toThrowError(expect.objectContaining({ name: 'OperatorError' }));
  },
);
