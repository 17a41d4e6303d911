import { expect, it } from 'vitest';
import { RecentUse } from './recent-use.ts';

it('the recent use of each client halves every ten seconds', () => {
  let now = 0;
  const use = new RecentUse(() => now);
  use.charge('a', 8);
  use.charge('b', 1);
  now = 10_000;
  use.charge('a', 1);
  now = 20_000;
  expect([use.of('a'), use.of('b'), use.of('c')]).toEqual([2.5, 0.25, 0]);
});

it('a client without further use is removed after ten half-lives', () => {
  let now = 0;
  const use = new RecentUse(() => now);
  for (let n = 0; n < 100; n++) use.charge(`client ${n}`, 1);
  now = 90_000;
  use.charge('client 99', 1);
  expect(use.size).toBe(100);
  now = 100_000;
  use.charge('client 99', 1);
  expect(use.size).toBe(1);
});

it('only the most recently charged clients are retained, up to the maximum number of clients', () => {
  const use = new RecentUse(() => 0);
  for (let n = 0; n < 20_000; n++) {
    use.charge(`client ${n}`, 1);
    use.charge('steady', 1);
  }
  const remembered = [use.of('client 0'), use.of('client 19999'), use.of('steady')];
  expect([use.size <= 16_384, remembered]).toEqual([true, [0, 1, 20_000]]);
});
