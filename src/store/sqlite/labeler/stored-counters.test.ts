import fc from 'fast-check';
import { expect, it } from 'vitest';
import { signatureVerdicts } from '../../../contract/vocabulary.ts';
import { delayBounds } from '../../counts.ts';
import { type DayCounters, type Events, packCounters, unpackCounters } from './stored-counters.ts';

const count = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2 ** 40 }));
const events = fc.tuple(count, count) as fc.Arbitrary<Events>;
const counters: fc.Arbitrary<DayCounters> = fc.record({
  verdicts: fc.tuple(...signatureVerdicts.map(() => count)).map((counts) => {
    return new Map(signatureVerdicts.map((verdict, i) => [verdict, counts[i] ?? 0]));
  }),
  values: fc.array(fc.tuple(fc.nat(), events), { maxLength: 20 }).map((values) => new Map(values)),
  others: events,
  delays: fc
    .array(
      fc.tuple(
        fc.nat({ max: delayBounds.length }),
        count.map((n) => n + 1),
      ),
    )
    .map((delays) => new Map(delays)),
});

it('unpackCounters restores packed counters exactly', () => {
  fc.assert(
    fc.property(counters, fc.nat(), (all, source) => {
      expect(unpackCounters(packCounters(all, source, 'day'), source, 'day')).toEqual(all);
    }),
  );
});

it('unpackCounters throws damaged for a flipped bit, a truncation, or the id of a different labeler', () => {
  const bit = fc.tuple(counters, fc.nat(), fc.nat({ max: 7 }));
  fc.assert(
    fc.property(bit, ([all, at, shift]) => {
      const packed = packCounters(all, 7, 'day');
      const changed = Buffer.from(packed);
      changed[at % packed.length] = (changed[at % packed.length] ?? 0) ^ (1 << shift);
      const damaged = expect.objectContaining({ code: 'damaged' });
      expect(() => unpackCounters(changed, 7, 'day')).toThrowError(damaged);
      expect(() => unpackCounters(packed.subarray(0, at % packed.length), 7, 'day')).toThrowError(damaged);
      expect(() => unpackCounters(packed, 8, 'day')).toThrowError(damaged);
    }),
  );
});

it('packCounters refuses a negative count', () => {
  const negative: DayCounters = {
    verdicts: new Map(),
    values: new Map([[1, [0, -1]]]),
    others: [0, 0],
    delays: new Map(),
  };
  expect(() => packCounters(negative, 1, 'day')).toThrowError(expect.objectContaining({ code: 'damaged' }));
});
