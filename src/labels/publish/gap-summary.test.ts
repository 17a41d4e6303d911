import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapReasons } from '../../contract/vocabulary.ts';
import { clip, gappedTime } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import { type SummaryInputs, summarizeGaps } from './gap-summary.ts';
import { unionGaps } from './gaps.ts';

const window = { start: micros(0), end: micros(30 * day) };
const observed = { start: micros(day), end: window.end };
const week = { start: micros(23 * day), end: window.end };

/** Generates gaps in and around the window, in any order. */
const anyGaps = fc
  .array(
    fc.record({
      source: fc.constantFrom('did:plc:a', 'did:plc:b', 'did:plc:c', null),
      reason: fc.constantFrom(...gapReasons),
      // Some gaps begin close to the start of the observation, less than a minute apart.
      start: fc.oneof(fc.integer({ min: 1_430, max: 1_450 }), fc.integer({ min: -100, max: 31 * 1_440 })),
      length: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3_000 })),
      seconds: fc.integer({ min: 0, max: 59 }),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    all.map(({ source, reason, start, length, seconds }): StoredGap => {
      const from = start * minute + seconds * 1_000_000;
      return { source, reason, start: micros(from), end: micros(from + length * minute) };
    }),
  );

const counted = new Set(['did:plc:a', 'did:plc:b']);
const summaryOf = (over: Partial<SummaryInputs>) =>
  summarizeGaps({ ...{ gaps: [], departures: [], counted, window, observed, week }, ...over });

test('the union of the summarized gaps equals the union of all gaps of the instrument and of the counted labelers', async () => {
  await fc.assert(
    fc.asyncProperty(anyGaps, anyGaps, async (gaps, departures) => {
      const { gaps: summarized } = await summaryOf({ gaps, departures });
      const listed = [...gaps, ...departures].filter(({ source }) => source === null || counted.has(source));
      expect(unionGaps(summarized, observed, 20)).toEqual(unionGaps(listed, observed, 20));
      const instrument = (all: readonly StoredGap[]) => new Set(all.filter(({ source }) => source === null));
      expect(instrument(summarized)).toEqual(instrument(listed));
    }),
  );
});

test('a gap before the observed time is not joined with a gap that begins shortly after the start of the observed time', async () => {
  const [before, after] = [-30_000_000, 20_000_000].map((from): StoredGap => {
    const start = micros(observed.start + from);
    return { source: 'did:plc:a', reason: 'source_unavailable', start, end: micros(start + 25_000_000) };
  });
  if (!before || !after) throw new Error('two gaps were expected');
  expect((await summaryOf({ gaps: [before, after] })).gaps).toEqual([after]);
});

test('the missed time of a counted labeler is the time of its own gaps in the window', async () => {
  await fc.assert(
    fc.asyncProperty(anyGaps, anyGaps, async (gaps, departures) => {
      const { times } = await summaryOf({ gaps, departures });
      const own = Map.groupBy(clip([...gaps, ...departures], window), ({ source }) => source ?? '');
      const expected = [...counted].flatMap((did) => {
        const list = own.get(did);
        return list === undefined ? [] : [[did, gappedTime(list)] as const];
      });
      expect(new Map([...times].map(([did, { missed }]) => [did, missed]))).toEqual(new Map(expected));
    }),
  );
});

test('a labeler that was paused within the last week is reported as having incomplete counts, even if it is not a counted labeler', async () => {
  const paused = (source: string, from: number): StoredGap => {
    return { source, reason: 'ingest_paused', start: micros(from * day), end: micros(from * day + hour) };
  };
  const gaps = [paused('did:plc:a', 22), paused('did:plc:b', 24), paused('did:plc:c', 25)];
  expect([...(await summaryOf({ gaps })).cutShort]).toEqual(['did:plc:b', 'did:plc:c']);
});
