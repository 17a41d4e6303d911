import fc from 'fast-check';
import { expect, test } from 'vitest';
import { embeddedArchive, parseEmbedded, type RecentArchive } from './embedded.ts';
import type { HourGap } from './model.ts';

const rate = fc.option(
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
);
const gap: fc.Arbitrary<HourGap> = fc.record({
  instrument: fc.constantFrom('weather', 'labels'),
  start: fc.constant('2026-11-17T00:00:00Z'),
  end: fc.constant('2026-11-17T16:00:00Z'),
});
const gaps = fc.record({ newest: fc.array(gap, { maxLength: 5 }), count: fc.nat() });
const day = fc.record({
  eventsPerSecond: rate,
  labelsPerHour: rate,
  isArchived: fc.boolean(),
  isClosed: fc.boolean(),
  isWeatherPartial: fc.boolean(),
  isLabelsPartial: fc.boolean(),
});

/** Archive data of up to 60 consecutive days. */
const archive: fc.Arbitrary<RecentArchive> = fc
  .record({
    from: fc.integer({ min: 0, max: 40_000 }),
    unnamed: fc.array(day, { maxLength: 60 }),
    newest: fc.constant('2026-11-17'),
    gaps,
    weatherGaps: gaps,
    issues: fc.nat(),
    areLabelsShown: fc.boolean(),
  })
  .map(({ from, unnamed, ...others }) => ({
    ...others,
    days: unnamed.map((one, at) => ({ ...one, day: new Date((from + at) * 86_400_000).toISOString().slice(0, 10) })),
  }));

test('the page script restores exactly the archive data that the server embedded', () => {
  fc.assert(
    fc.property(archive, (recent) => {
      expect(parseEmbedded(embeddedArchive(recent))).toEqual(recent);
    }),
  );
});
