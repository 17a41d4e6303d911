import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Pace } from './pace.ts';

const startUs = Date.UTC(2026, 6, 4) * 1000;
const change = fc.oneof(
  fc.record({
    kind: fc.constant('rate' as const),
    rate: fc.constantFrom(0, 0.01, 1, 7, 400),
    afterUs: fc.nat(90_000_000),
  }),
  fc.record({
    kind: fc.constant('emit' as const),
    count: fc.integer({ min: 1, max: 20 }),
    afterUs: fc.nat(90_000_000),
  }),
);

it('after any sequence of rate changes and emissions, the newest label at a given time is the last label emitted until that time', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.array(change, { maxLength: 8 }), fc.nat(90_000_000), (seed, changes, lastUs) => {
      const pace = new Pace({ seed, rate: 2, startUs });
      let nowUs = startUs;
      let before = 0;
      for (const one of changes) {
        nowUs += one.afterUs;
        before = pace.edge(nowUs);
        if (one.kind === 'rate') pace.setRate(one.rate, nowUs);
        else expect(pace.emit(one.count, nowUs)).toBe(before + 1);
        expect(pace.edge(nowUs)).toBe(before + (one.kind === 'emit' ? one.count : 0));
      }
      nowUs += lastUs;
      const edge = pace.edge(nowUs);
      for (let n = Math.max(2, edge - 200); n <= edge; n++) {
        expect(pace.emittedUs(n)).toBeGreaterThanOrEqual(pace.emittedUs(n - 1));
        expect(pace.emittedUs(n)).toBeLessThanOrEqual(nowUs);
      }
      if (edge > 0) expect(pace.edge(pace.emittedUs(edge))).toBe(edge);
    }),
  );
});
