import { expect, test } from 'vitest';
import type { PositionChange } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { defaultBufferLimits, Kept } from './kept.ts';

const did = 'did:plc:a';

function emptyKept(): Kept {
  const standby = { identityOf: ({ val }: { val: string }) => val, knows: () => false };
  return new Kept(standby, defaultBufferLimits, () => undefined);
}

function put(kept: Kept, ...positions: PositionChange[]): void {
  kept.append({ at: micros(1), observations: [], refusals: [], positions });
}

test('a standby retains at most 2,000 removed positions of a labeler that moves 5,000 times', () => {
  const kept = emptyKept();
  for (let at = 0; at < 5_000; at += 1) {
    put(kept, { source: did, endpoint: `https://h${at}.example`, value: 'p' });
    if (at >= 4) put(kept, { source: did, endpoint: `https://h${at - 4}.example`, value: null });
  }
  const positions = [...kept.positions];
  expect(positions.filter(({ value }) => value !== null)).toHaveLength(4);
  expect(positions.length).toBeLessThanOrEqual(2_004);
  expect(positions).toContainEqual({ source: did, endpoint: 'https://h4995.example', value: null });
});

test('a standby retains at most the newest 32 MiB of definitions, no matter how many labelers write definitions', () => {
  const kept = emptyKept();
  const content = 'x'.repeat(256 * 1024);
  const revision = (n: number) => ({ did: `did:plc:${n}`, seenAt: micros(n), content });
  for (let n = 0; n < 500; n += 1) expect(kept.putDefinitions([revision(n)])).toEqual([true]);
  kept.putDefinitions([{ ...revision(499), content: 'small' }]);
  expect([...kept.definitions].map(({ seenAt }) => seenAt)).toEqual(Array.from({ length: 128 }, (_, i) => 372 + i));
  expect([...kept.definitions].at(-1)?.content).toBe('small');
});

test('a standby retains the definitions of at most 2,000 labelers', () => {
  const kept = emptyKept();
  const all = Array.from({ length: 3_000 }, (_, n) => ({ did: `did:plc:${n}`, seenAt: micros(n), content: '{}' }));
  kept.putDefinitions(all);
  expect([...kept.definitions]).toEqual(all.slice(1_000));
});

test('if a labeler returns to an endpoint, the new position at the endpoint replaces the removal of the old position', () => {
  const kept = emptyKept();
  const position = { source: did, endpoint: 'https://a.example', value: 'p' };
  put(kept, { ...position, value: null }, position);
  expect([...kept.positions]).toEqual([{ ...position, acceptedAt: 1 }]);
});
