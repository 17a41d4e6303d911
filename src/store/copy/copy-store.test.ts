import { describe, expect, it } from 'vitest';
import { identityOf, type ReceivedLabel } from '../label.ts';
import type { NewObservation } from '../port.ts';
import { countsDigest, RowDigest } from './copy-store.ts';
import type { CopiedRow, DayCounts } from './parts.ts';

const label: ReceivedLabel = {
  ver: 1,
  src: 'did:web:mod.example',
  uri: 'did:web:alice.example',
  val: 'spam',
  cts: '2026-01-01T00:00:00Z',
  sig: Buffer.from([1, 2]),
  extra: Buffer.from([3]),
};

function row(at: number, change: Partial<ReceivedLabel> = {}, rest: Partial<NewObservation> = {}): CopiedRow {
  const changed = { ...label, ...change };
  return { at, identity: identityOf(changed), observation: { label: changed, signature: 'verified', ...rest } };
}

function digest(...rows: readonly CopiedRow[]): string {
  const of = new RowDigest();
  for (const one of rows) of.add(one);
  return of.text();
}

describe('the digest of rows', () => {
  it('does not depend on the row order, can be resumed from its text, and changes if a row is repeated', () => {
    expect(digest(row(1), row(2))).toBe(digest(row(2), row(1)));
    const continued = new RowDigest(digest(row(1)));
    continued.add(row(2));
    expect(continued.text()).toBe(digest(row(1), row(2)));
    expect(digest(row(1), row(1))).not.toBe(digest(row(1)));
  });

  it.each<readonly [string, CopiedRow]>([
    ['the stamp', row(2)],
    ['the verdict', row(1, {}, { signature: 'invalid' })],
    ['the live flag', row(1, {}, { live: true })],
    ['the presence of neg', row(1, { neg: false })],
    ['the value of neg', row(1, { neg: true })],
    ['the version', row(1, { ver: 0 })],
    ['the signature', row(1, { sig: Buffer.from([1, 3]) })],
    [
      'the boundary between the signature and the other fields',
      row(1, { sig: Buffer.from([1]), extra: Buffer.from([2, 3]) }),
    ],
    ['the other fields', row(1, { extra: Buffer.alloc(0) })],
    ['the value', row(1, { val: 'porn' })],
    ['the expiry', row(1, { exp: '2026-01-02T00:00:00Z' })],
  ])('differs if a row differs in %s', (_what, other) => {
    expect(digest(other)).not.toBe(digest(row(1)));
  });
});

describe('the digest of counters', () => {
  const counts: DayCounts = {
    minutes: [
      [1, 'a', 2, 0],
      [2, 'a', 1, 0],
    ],
    hours: [[0, 'a', 3, 0]],
    refusals: [[0, 'a', 'late', 1]],
    labelers: [{ labeler: 'a', verdicts: { verified: 3 }, values: [['spam', 3, 0]], others: [0, 0], delays: [[4, 1]] }],
    countedFrom: null,
  };

  it('ignores the order of entries and entries whose counts are zero', () => {
    const others = { ...counts, minutes: [...counts.minutes, [3, 'b', 0, 0] as const].reverse() };
    expect(countsDigest(others)).toBe(countsDigest(counts));
  });

  it('changes if a counter of any kind or the start of counting changes', () => {
    const [one] = counts.labelers;
    const labelers = one ? [{ ...one, delays: [[5, 1] as const] }] : [];
    for (const change of [{ minutes: [] }, { hours: [] }, { refusals: [] }, { labelers }, { countedFrom: 1 }]) {
      expect(countsDigest({ ...counts, ...change })).not.toBe(countsDigest(counts));
    }
  });
});
