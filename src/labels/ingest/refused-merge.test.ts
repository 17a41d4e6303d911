import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RefusedRows } from '../../store/label.ts';
import { RefusedMemory } from './refused-memory.ts';

const now = 490_000 * 3_600_000_000;
const did = 'did:plc:l';

/** Creates a memory with stored buckets, and returns functions that use it. */
function process(loaded: readonly RefusedRows[]) {
  const memory = new RefusedMemory();
  const stored = new Map(loaded.map((one) => [one.bucket, one]));
  for (const one of loaded) memory.load(one);
  return {
    memory,
    stored: () => [...stored.values()],
    /** Delivers rows by the stream; returns how many of them were counted. */
    deliver(rows: readonly string[]): number {
      let counted = 0;
      for (const row of rows) {
        const taken = memory.take(did, now, { transport: 'stream', startsOver: false, again: false });
        if (taken.counts(hash('sha256', row, 'hex').slice(0, 32), 'late')) counted += 1;
        for (const { bucket, rows: text } of taken.changes) {
          if (text === null) stored.delete(bucket);
          else stored.set(bucket, { source: did, bucket, rows: text });
        }
        taken.committed();
      }
      return counted;
    },
  };
}

test('every delivered row counts once, no matter how far the writer and the standby had read when the standby replaced the writer', () => {
  const rows = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
  fc.assert(
    fc.property(rows, fc.nat(30), fc.nat(30), fc.nat(30), (all, begun, written, kept) => {
      const start = Math.min(begun, all.length);
      const writer = process([]);
      let counted = writer.deliver(all.slice(0, start));
      const standby = process(writer.stored());
      standby.memory.keepJournal();
      const ends = { writer: Math.max(start, written), standby: Math.max(start, kept) };
      counted += writer.deliver(all.slice(start, ends.writer));
      standby.deliver(all.slice(start, ends.standby));
      counted += standby.memory.merge(writer.stored(), now, () => true).refusals.length;
      counted += standby.deliver(all.slice(ends.standby));
      expect(counted).toBe(all.length);
    }),
  );
});

test('a merge makes the stored buckets equal to the buckets in memory, except for sources that are not read', () => {
  const writer = process([]);
  writer.deliver(['a', 'b']);
  const standby = process([]);
  standby.memory.keepJournal();
  standby.deliver(['a', 'c']);
  const { refusals, changes } = standby.memory.merge(writer.stored(), now, () => true);
  expect(refusals.map(({ reason }) => reason)).toEqual(['late']);
  const merged = new Map(writer.stored().map((one) => [one.bucket, one]));
  for (const { bucket, rows } of changes) if (rows !== null) merged.set(bucket, { source: did, bucket, rows });
  const restarted = process([...merged.values()]);
  expect(restarted.deliver(['b', 'd'])).toBe(1);
  const stranger = new RefusedMemory();
  stranger.keepJournal();
  expect(stranger.merge(writer.stored(), now, () => false)).toEqual({ refusals: [], changes: [] });
});
