import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { maxRefusedRowsLength } from '../../store/label.ts';
import { RefusedMemory } from './refused-memory.ts';

type Delivery = Parameters<RefusedMemory['take']>[2];

const hour = 3_600_000_000;
const now = 490_000 * hour;
const did = 'did:plc:l';

const printOf = (row: string): string => hash('sha256', row, 'hex').slice(0, 32);

/** Creates a memory and its stored buckets. Every batch is committed to the buckets. */
function kept(memory = new RefusedMemory(), stored = new Map<string, string>()) {
  return {
    stored,
    restarted() {
      const again = new RefusedMemory();
      for (const [key, rows] of stored) {
        const [source = '', bucket] = key.split(' ');
        again.load({ source, bucket: Number(bucket), rows });
      }
      return kept(again, stored);
    },
    take(
      rows: readonly string[],
      transport: Delivery['transport'],
      more: Partial<Delivery> & { at?: number; source?: string } = {},
    ) {
      const { at = now, source = did, startsOver = false, again = false } = more;
      const taken = memory.take(source, at, { transport, startsOver, again });
      const counted = rows.map((row) => taken.counts(printOf(row), 'late'));
      for (const { source: of, bucket, rows: packed } of taken.changes) {
        if (packed === null) stored.delete(`${of} ${bucket}`);
        else stored.set(`${of} ${bucket}`, packed);
      }
      taken.committed();
      return counted.filter(Boolean).length;
    },
  };
}

const many = (count: number, name = 'row') => Array.from({ length: count }, (_, i) => `${name} ${i}`);

describe('the record of refused rows', () => {
  test('counts a row once if both transports deliver it, and uses the larger of the two counts for equal rows', () => {
    const { take } = kept();
    const transports = ['stream', 'stream', 'poll', 'poll', 'poll', 'stream'] as const;
    expect(transports.map((transport) => take(['row'], transport))).toEqual([1, 1, 0, 0, 1, 0]);
  });

  test('counts a row once if a transport delivers it again', () => {
    const { take } = kept();
    expect(take(['a', 'b', 'b', 'c'], 'poll', { startsOver: true })).toBe(4);
    expect(take(['a', 'b', 'b'], 'poll', { startsOver: true })).toBe(0);
    expect(take(['c', 'd'], 'poll')).toBe(1);
    expect(take(['b', 'd', 'e'], 'poll', { again: true })).toBe(1);
    expect(take(['b'], 'poll')).toBe(1);
  });

  test('does not count a row again after a restart, and continues to number equal rows', () => {
    const before = kept();
    before.take(['a', 'same', 'same'], 'stream');
    const { take } = before.restarted();
    expect(take(['a', 'same', 'same'], 'poll', { startsOver: true })).toBe(0);
    expect(take(['same', 'b'], 'stream')).toBe(2);
  });

  test('excludes the rows of a batch that was not committed', () => {
    const memory = new RefusedMemory();
    const delivery = { transport: 'poll', startsOver: false, again: false } as const;
    expect(memory.take(did, now, delivery).counts(printOf('a'), 'late')).toBe(true);
    expect(memory.take(did, now, delivery).counts(printOf('a'), 'late')).toBe(true);
  });

  test('keeps the newest rows that fit a bucket if a source has very many rows, and keeps the rows of other sources', () => {
    const { take, stored } = kept();
    take(['other'], 'stream', { source: 'did:plc:o' });
    for (let page = 0; page < 100; page += 1) take(many(500, `page ${page}`), 'stream');
    expect(stored.size).toBeLessThanOrEqual(17);
    const lengths = [...stored.values()].map((rows) => rows.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(maxRefusedRowsLength);
    expect(Math.max(...lengths)).toBeGreaterThan(4_000);
    expect(take(many(500, 'page 99'), 'poll')).toBe(0);
    expect(take(many(500, 'page 96'), 'poll')).toBe(0);
    expect(take(['other'], 'poll', { source: 'did:plc:o' })).toBe(0);
    expect(take(many(500, 'page 1'), 'poll')).toBe(500);
  });

  test('drops the largest source, in memory and in the store, when its size exceeds the limit', () => {
    const { take, stored } = kept(new RefusedMemory(20_000));
    take(['a', 'b'], 'stream', { source: 'did:plc:o' });
    take(many(1_000), 'stream');
    take([], 'stream', { source: 'did:plc:o' });
    expect([...stored.keys()].some((key) => key.startsWith(did))).toBe(false);
    expect(take(['a', 'b'], 'poll', { source: 'did:plc:o' })).toBe(0);
  });

  test('drops the rows of a protected source last', () => {
    const { take } = kept(new RefusedMemory(60_000, (source) => source === 'did:plc:seed'));
    take(many(1_000), 'stream', { source: 'did:plc:seed' });
    for (let i = 0; i < 100; i += 1) take(many(100, `flood ${i}`), 'stream', { source: `did:plc:flood${i}` });
    expect(take(many(1_000), 'poll', { source: 'did:plc:seed' })).toBe(0);
  });

  test('drops a row whose age exceeds the maximum age of a repeated row', () => {
    const { take, stored } = kept();
    take(['a', 'b', 'c'], 'stream');
    take([], 'stream', { at: now + 50 * hour });
    expect(stored.size).toBeGreaterThan(0);
    take([], 'stream', { at: now + 51 * hour });
    expect(stored.size).toBe(0);
    expect(take(['a'], 'poll', { at: now + 51 * hour })).toBe(1);
  });
});
