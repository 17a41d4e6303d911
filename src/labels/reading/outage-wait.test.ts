import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { day, micros, minute, second } from '../../store/time.ts';
import { untilOutage } from './outage-wait.ts';

const start = micros(20_000 * day);

test('a source that fails is tried again within 15 seconds after its failures become an outage', () => {
  const draws = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
  fc.assert(
    fc.property(draws, (stream) => {
      const random = (): number => stream.next().value as number;
      const backoff = createBackoff({ firstMs: 2_000, capMs: 900_000, random });
      let now = start;
      let tried = start;
      while (now - start <= 15 * minute) {
        tried = micros(now + untilOutage(backoff.next(), { failingSince: start, now, random }) * 1_000);
        // An attempt fails after 100 ms.
        now = micros(tried + second / 10);
      }
      expect(tried - start).toBeLessThanOrEqual(15 * minute + 15 * second);
    }),
  );
});

test('the wait of a source stays unchanged if the source does not fail, is already in an outage, or is tried again before the outage', () => {
  const random = (): number => 0;
  expect(untilOutage(900_000, { failingSince: null, now: start, random })).toBe(900_000);
  const failing = { failingSince: start, random };
  expect(untilOutage(900_000, { ...failing, now: micros(start + 16 * minute) })).toBe(900_000);
  expect(untilOutage(1_000, { ...failing, now: start })).toBe(1_000);
});
