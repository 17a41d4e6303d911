import { describe, expect, test } from 'vitest';
import { DefinitionSpace, type DefinitionTable, labelerHandle } from './roster.ts';

test.each([
  ['mod.example.com', true, { name: 'mod.example.com', confirmed: true }],
  ['mod.example.com', false, { name: 'mod.example.com', confirmed: false }],
  ['<b>mod</b>', true, null],
  ['', false, null],
  [null, true, null],
])('labelerHandle(%j, %j) returns %j', (name, confirmed, handle) => {
  expect(labelerHandle(name, confirmed)).toEqual(handle);
});

/** Keeps revisions of definitions in memory: for each labeler the sizes in bytes, newest first. */
function tableOf(revisions: Record<string, number[]>): DefinitionTable {
  return {
    sizes: () =>
      Object.entries(revisions).map(([did, sizes]) => ({
        ...{ did, newest: sizes[0] ?? 0 },
        bytes: sizes.reduce((sum, size) => sum + size, 0),
      })),
    sizesOf: (did) => revisions[did] ?? [],
    dropOldest: (did) => revisions[did]?.pop(),
  };
}

function trimmed(revisions: Record<string, number[]>, maxBytes: number, ...shares: [] | [isProtected: string]) {
  const space = new DefinitionSpace(tableOf(revisions), maxBytes);
  const [isProtected] = shares;
  space.trim(['a'], { isProtected: (did) => did === isProtected, groupOf: (did) => did.slice(0, 1) });
  return revisions;
}

describe('the space of label definitions', () => {
  test('keeps every revision while the total size is within the limit', () => {
    expect(trimmed({ a: [5, 5], b: [5, 5] }, 20)).toEqual({ a: [5, 5], b: [5, 5] });
  });

  test('removes old revisions of all labelers before the newest revision of any labeler', () => {
    expect(trimmed({ a: [9], b: [1, 1, 1], c: [2, 2] }, 12)).toEqual({ a: [9], b: [1], c: [2] });
  });

  test('removes old revisions of a protected labeler before the newest revision of a different labeler', () => {
    expect(trimmed({ a: [6], b: [4, 4] }, 10, 'b')).toEqual({ a: [6], b: [4] });
  });

  test('removes the newest revision of an unprotected labeler before the newest revision of a protected labeler', () => {
    expect(trimmed({ a: [3], b: [9] }, 10, 'b')).toEqual({ a: [], b: [9] });
  });

  test('removes the newest revision of a protected labeler if nothing else is left', () => {
    expect(trimmed({ a: [3], b: [11] }, 10, 'b')).toEqual({ a: [], b: [] });
  });

  test('removes a revision from the owner whose labelers together use the most bytes', () => {
    expect(trimmed({ a1: [4], a2: [4], a3: [4], b: [6] }, 14)).toEqual({ a1: [], a2: [4], a3: [4], b: [6] });
  });
});
