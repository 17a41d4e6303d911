import { expect, it } from 'vitest';
import type { TriedHost } from '../doctor/finding.ts';
import { createHostCheck } from './observatory.ts';

it('the host check contacts the hosts after 2 s without a response and then once a minute, and discards the result once a host responds', async () => {
  let checks = 0;
  const hosts: readonly TriedHost[] = [];
  const check = createHostCheck(() => {
    checks += 1;
    return Promise.resolve(hosts);
  });
  const looks: unknown[] = [];
  const look = async (unansweredMs: number | null, now: number): Promise<void> => {
    const isKnown = check.look(unansweredMs, now) !== null;
    await Promise.resolve();
    looks.push([checks, isKnown]);
  };
  await look(1_999, 1_999);
  await look(2_000, 2_000);
  await look(3_000, 3_000);
  await look(61_999, 61_999);
  await look(62_000, 62_000);
  await look(null, 63_000);
  expect(looks).toEqual([
    [0, false],
    [1, false],
    [1, true],
    [1, true],
    [2, true],
    [2, false],
  ]);
});
