import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hour, micros, minute, second } from '../../store/time.ts';
import { isShuffled, type SampledPage, searchCursor, searchMargin } from './cursor-search.ts';

const limit = 250;

/** A labeler whose row `id` was authored at `authored(id)`; it counts how often it was asked. */
function labeler(rows: number, authored: (id: number) => number | null) {
  const asked: number[] = [];
  return {
    asked,
    read: async (cursor: number): Promise<SampledPage> => {
      asked.push(cursor);
      const ids = Array.from({ length: Math.max(0, Math.min(limit, rows - cursor)) }, (_, i) => cursor + 1 + i);
      return {
        authored: ids.map((id) => {
          const at = authored(id);
          return at === null ? null : micros(at);
        }),
        cursor: ids.at(-1) ?? null,
      };
    },
  };
}

describe('searching the epoch in a cursor space', () => {
  test('finds a place below everything since the target, and not far below', async () => {
    const cases = fc.record({
      rows: fc.integer({ min: 1, max: 200_000 }),
      target: fc.integer({ min: 0, max: 250_000 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, target }) => {
        const { read, asked } = labeler(rows, (id) => id * minute);
        const found = await searchCursor(micros(target * minute), read);
        if (found.kind !== 'found') throw new Error(found.why);
        expect(found.cursor).toBeLessThan(Math.max(1, target));
        expect(Math.min(target, rows) - found.cursor).toBeLessThanOrEqual(60 + 100 + 6);
        expect(asked.length).toBeLessThan(50);
      }),
      { numRuns: 50 },
    );
  });

  test('reads a labeler that is younger than the target from its beginning', async () => {
    const { read } = labeler(5_000, (id) => 100 * hour + id);
    expect(await searchCursor(micros(50 * hour), read)).toEqual({ kind: 'found', cursor: 0 });
  });

  test('is not led astray by single labels with wrong or no dates', async () => {
    const { read } = labeler(50_000, (id) =>
      id % 17 === 0 ? 1e18 : id % 23 === 0 ? 0 : id % 29 === 0 ? null : id * minute,
    );
    const found = await searchCursor(micros(40_000 * minute), read);
    expect(found).toMatchObject({ kind: 'found' });
    expect((found as { cursor: number }).cursor).toBeLessThan(40_000);
  });

  test('believes nothing where ids do not rise with time', async () => {
    const { read } = labeler(50_000, (id) => ((id * 7919) % 50_000) * minute);
    expect(await searchCursor(micros(40_000 * minute), read)).toMatchObject({ kind: 'unverified' });
  });

  test('believes nothing where ids rise with time and then fall', async () => {
    const { read } = labeler(50_000, (id) => Math.min(id, 50_000 - id) * minute);
    expect(await searchCursor(micros(20_000 * minute), read)).toMatchObject({ kind: 'unverified' });
  });

  test('believes no cursor that is missing or does not advance', async () => {
    const { read } = labeler(50_000, (id) => id * minute);
    const without = async (cursor: number): Promise<SampledPage> => ({ ...(await read(cursor)), cursor: null });
    const standing = async (cursor: number): Promise<SampledPage> => ({ ...(await read(cursor)), cursor });
    expect(await searchCursor(micros(0), without)).toMatchObject({ kind: 'unverified' });
    expect(await searchCursor(micros(0), standing)).toMatchObject({ kind: 'unverified' });
  });
});

test('a page is shuffled when its times fall again and again, not when some are wrong', () => {
  const rising = Array.from({ length: 100 }, (_, i) => micros(i * hour));
  expect(isShuffled(rising)).toBe(false);
  expect(isShuffled(rising.map((at, i) => (i % 15 === 3 ? micros(0) : at)))).toBe(false);
  expect(isShuffled(rising.map((_, i) => micros(((i * 37) % 100) * hour)))).toBe(true);
});

test('reading begins an hour before the instant: rows of one moment are not stored in the order of their making', async () => {
  const { read } = labeler(50_000, (id) => id * second);
  const found = await searchCursor(micros(40_000 * second), read);
  if (found.kind !== 'found') throw new Error(found.why);
  expect(found.cursor * second).toBeLessThanOrEqual(40_000 * second - searchMargin);
});

test('a labeler whose pages rise, and whose rows within them do not, is not believed', async () => {
  const { read } = labeler(50_000, (id) => Math.floor(id / limit) * limit * minute + (id % 2) * hour);
  expect(await searchCursor(micros(40_000 * minute), read)).toEqual({ kind: 'unverified', why: 'a page out of order' });
});
