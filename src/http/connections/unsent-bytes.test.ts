import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnsentBytes, type UnsentClaim } from './connection-table.ts';
import { networkTiers } from './network-tiers.ts';

const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(networkTiers) as [
  ReturnType<typeof networkTiers>,
  ReturnType<typeof networkTiers>,
  ReturnType<typeof networkTiers>,
];
const uncut = (): void => {
  throw new Error('unexpected cut of a response');
};

describe('unsent bytes', () => {
  it('are limited for each client independently', () => {
    const unsent = new UnsentBytes({ perClient: 100, total: 1_000 }, () => 0);
    expect(unsent.claim(a, uncut).reserve(100)).toBe(true);
    expect(unsent.claim(a, uncut).reserve(1)).toBe(false);
    expect(unsent.claim(b, uncut).reserve(100)).toBe(true);
  });

  it('are released if a response is smaller than its reservation, and when the response is complete', () => {
    const unsent = new UnsentBytes({ perClient: 100, total: 1_000 }, () => 0);
    const claim = unsent.claim(a, uncut);
    expect([claim.reserve(80), claim.settle(30), unsent.total]).toEqual([true, true, 30]);
    claim.release();
    claim.release();
    expect(unsent.total).toBe(0);
  });

  it('that exceed the total limit cause the largest response to be aborted, but only after a minimum sending time', () => {
    let now = 0;
    const cut: string[] = [];
    const unsent = new UnsentBytes({ perClient: 100, total: 200 }, () => now);
    for (const [name, bytes] of [
      ['first', 60],
      ['second', 40],
    ] as const) {
      unsent.claim(a, () => cut.push(name)).settle(bytes);
    }
    unsent.claim(b, () => cut.push('third')).settle(90);
    expect(unsent.claim(c, uncut).reserve(50)).toBe(false);
    now = 2_000;
    expect(unsent.claim(c, uncut).reserve(50)).toBe(true);
    expect(cut).toEqual(['first']);
  });

  it('cannot be reserved for a response that was released or aborted', () => {
    let now = 0;
    const unsent = new UnsentBytes({ perClient: 100, total: 150 }, () => now);
    const released = unsent.claim(a, uncut);
    expect([released.reserve(80), unsent.total]).toEqual([true, 80]);
    released.release();
    expect([released.reserve(80), released.settle(80), unsent.total]).toEqual([false, false, 0]);
    const aborted = unsent.claim(a, () => undefined);
    expect(aborted.settle(100)).toBe(true);
    now = 2_000;
    expect(unsent.claim(b, uncut).reserve(80)).toBe(true);
    expect([aborted.reserve(20), unsent.total]).toEqual([false, 80]);
  });

  it('of a response that is built while it is sent are released like those of others if memory is short', () => {
    let now = 0;
    const cut: string[] = [];
    const unsent = new UnsentBytes({ perClient: 100, total: 100 }, () => now);
    const download = unsent.claim(a, () => cut.push('download'));
    expect(download.reserve(90)).toBe(true);
    now = 10_000;
    expect(unsent.claim(b, uncut).reserve(50)).toBe(false);
    download.sending();
    now = 12_000;
    expect(unsent.claim(b, uncut).reserve(50)).toBe(true);
    expect(cut).toEqual(['download']);
  });

  it('do not cause a response to be aborted for a network that would then hold as many', () => {
    let now = 0;
    const unsent = new UnsentBytes({ perClient: 100, total: 150 }, () => now);
    expect([unsent.claim(a, uncut).settle(50), unsent.claim(b, uncut).settle(50)]).toEqual([true, true]);
    expect(unsent.claim(c, uncut).settle(50)).toBe(true);
    now = 10_000;
    const other = networkTiers('192.0.2.4');
    expect(unsent.claim(other, uncut).reserve(50)).toBe(false);
  });

  it('never exceed the total limit, and the counter returns to zero when all responses are released', () => {
    const step = fc.record({
      client: fc.constantFrom(...['192.0.2.1', '2001:db8::1', '2001:db8:0:100::1', '2001:db8:0:101::1']),
      bytes: fc.integer({ min: 0, max: 150 }),
      how: fc.constantFrom('reserve', 'settle', 'release', 'late'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        const unsent = new UnsentBytes({ perClient: 100, total: 300 }, () => now);
        const claims: UnsentClaim[] = [];
        for (const { client, bytes, how } of steps) {
          now += 1_000;
          if (how === 'release') claims.shift()?.release();
          else if (how === 'late') {
            const [claim] = claims;
            claim?.release();
            claim?.reserve(bytes);
          } else {
            const claim = unsent.claim(networkTiers(client), () => undefined);
            claims.push(claim);
            claim[how](bytes);
          }
          expect(unsent.total).toBeLessThanOrEqual(300);
          expect(unsent.total).toBeGreaterThanOrEqual(0);
        }
        for (const claim of claims) claim.release();
        expect(unsent.total).toBe(0);
      }),
    );
  });
});
