import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapReasons } from '../../contract/vocabulary.ts';
import { clip, gappedTime } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import { summarizeGaps, unionGaps } from './coverage.ts';
import { caveatsOf, makeOverview, type OverviewInputs } from './overview.ts';

type OverviewReading = Parameters<typeof makeOverview>[0];

const inputs: OverviewInputs = {
  now: micros(0),
  windowDays: 30,
  origin: 'live',
  sources: [
    { did: 'did:plc:a', origin: 'seeded', state: 'established', answered: true },
    { did: 'did:plc:b', origin: 'seeded', state: 'established', answered: true },
    { did: 'did:plc:c', origin: 'discovered', state: 'unavailable', answered: true },
  ],
  departures: [],
  notEnrolled: 5,
  unreachable: 0,
  directoryOnly: 0,
  delayed: 0,
  dropped: 0,
  waiting: 0,
  denied: 0,
  paused: null,
  capped: new Map(),
  dailyRows: 2_000_000,
};
/** Returns the window of a store whose labelers have these events in each interval. */
function readingOf(
  labelers: readonly (readonly [string, number])[],
  over: Partial<OverviewReading> = {},
): OverviewReading {
  const events = labelers.map(([labeler, count]) => ({ labeler, events: count }));
  const counted = { counts: events, leftOut: 0, labelers: 0 };
  return {
    epoch: { generationId: 'g', startedAt: micros(0) },
    frontier: { observedThrough: micros(100 * day), floor: micros(0) },
    ...{ gaps: [], refusals: [], purges: [], spaceRemoval: null, inWindow: counted, inWeek: counted, inDay: counted },
    ...over,
  };
}

const counts = {
  counts: [
    { labeler: 'did:plc:c', events: 75 },
    { labeler: 'did:plc:a', events: 25 },
  ],
  leftOut: 0,
};

test('each caveat that counts a part also states the total', () => {
  const troubled = {
    ...inputs,
    delayed: 1,
    paused: 'disk_full',
    dropped: 7,
    waiting: 4,
    capped: new Map([['did:plc:b', 'source'] as const]),
  };
  const refusals = [
    { source: 'did:plc:a', reason: 'malformed', count: 2 },
    { source: 'did:plc:a', reason: 'late', count: 9 },
  ] as const;
  const caveats = caveatsOf(troubled, counts, refusals, 2);
  expect(caveats.map((caveat) => caveat.replace(/[.:].*/, ''))).toEqual([
    '2 of 3 labelers that this instrument follows are being read',
    '1 of 2 labelers whose labels were observed in the window is being read; it accounts for 25 of the 100 events',
    '5 of 8 known labelers are not followed',
    'Some labelers keep only one row for each subject and value',
    '1 of 3 labelers that this instrument follows does not respond at the moment; its events arrive late',
    'No labels of any of the 3 labelers are accepted at the moment (disk_full)',
    '1 of 3 labelers that this instrument follows is paused until midnight UTC, because it used up a daily allowance of at most 2000000 labels; ' +
      '2 labelers that were paused within 7 days are not ranked',
    '4 of 7 labelers wait, because the maximum number of labelers is already being read',
    '7 further labelers were announced after the maximum number of known labelers was reached',
    '2 of 102 rows of the window were refused because of their form, size or author',
  ]);
});

test('each caveat has the correct singular or plural', () => {
  const capped = new Map([
    ['did:plc:a', 'source'],
    ['did:plc:b', 'source'],
  ] as const);
  const other = { ...inputs, notEnrolled: 1, delayed: 2, waiting: 1, dropped: 1, capped, paused: 'disk_full' };
  const refusals = [{ source: 'did:plc:a', reason: 'oversized', count: 1 }] as const;
  const sources = inputs.sources.map((source) =>
    source.did === 'did:plc:a' ? { ...source, state: 'probing' as const } : source,
  );
  const said = caveatsOf({ ...other, sources }, counts, refusals, 1);
  expect(said[2]).toBe(
    '1 of 4 known labelers is not followed: no document names its address, or it never responded. Each is contacted again at least daily.',
  );
  expect(said.map((caveat) => caveat.replace(/[.:;,].*/, ''))).toEqual([
    '1 of 3 labelers that this instrument follows is being read',
    '0 of 2 labelers whose labels were observed in the window are being read',
    '1 of 4 known labelers is not followed',
    'Some labelers keep only one row for each subject and value',
    '2 of 3 labelers that this instrument follows do not respond at the moment',
    'No labels of any of the 3 labelers are accepted at the moment (disk_full)',
    '2 of 3 labelers that this instrument follows are paused until midnight UTC',
    '1 of 4 labelers waits',
    '1 further labeler was announced after the maximum number of known labelers was reached',
    '1 of 101 rows of the window was refused because of its form',
  ]);
});

test('a caveat counts labelers that used up their allowance apart from labelers that wait for a limit of the instrument', () => {
  const said = (reasons: readonly ('source' | 'domain' | 'class' | 'disk')[]) => {
    const capped = new Map(reasons.map((reason, at) => [`did:plc:${at}`, reason]));
    return caveatsOf({ ...inputs, capped }, counts, [], reasons.length)[4];
  };
  expect(said(['class'])).toBe(
    '1 of 3 labelers that this instrument follows waits because of a limit of this instrument: the share of its domain or of its class, or disk space; ' +
      '1 labeler that was paused within 7 days is not ranked.',
  );
  expect(said(['source', 'domain', 'disk'])).toBe(
    '1 of 3 labelers that this instrument follows is paused until midnight UTC, because it used up a daily allowance of at most 2000000 labels; ' +
      '2 of 3 labelers that this instrument follows wait because of a limit of this instrument: the share of their domain or of their class, or disk space; ' +
      '3 labelers that were paused within 7 days are not ranked.',
  );
  expect(caveatsOf(inputs, counts, [], 2)[4]).toBe('2 labelers that were paused within 7 days are not ranked.');
});

test('a caveat distinguishes unreachable labelers from labelers that never responded', () => {
  const notFollowed = (unreachable: number) => caveatsOf({ ...inputs, unreachable }, counts, [], 0)[2];
  expect(notFollowed(1)).toBe(
    '5 of 8 known labelers are not followed: for 4, no document names their addresses, or they never responded; ' +
      '1 responded once and has been unreachable for 7 days. Each is contacted again at least daily.',
  );
  expect(notFollowed(5)).toBe(
    '5 of 8 known labelers are not followed: 5 responded once and have been unreachable for 7 days. Each is contacted again at least daily.',
  );
});

test('a caveat states the number of refused labels on records of spaces', () => {
  const said = (count: number) =>
    caveatsOf(inputs, counts, [{ source: 'did:plc:a', reason: 'space_uri', count }], 0).at(-1);
  expect(said(1)).toBe(
    '1 of 101 rows of the window was refused because it labels a record of a space, which is not public.',
  );
  expect(said(3)).toBe(
    '3 of 103 rows of the window were refused because they label records of a space, which is not public.',
  );
});

test('a caveat states the number of labelers that only the directory named', () => {
  const said = (directoryOnly: number) => caveatsOf({ ...inputs, directoryOnly }, counts, [], 0)[4];
  expect(said(1)).toBe(
    '1 of 3 labelers that this instrument follows is known only from the directory: no seeds file, relay or Jetstream named it.',
  );
  expect(said(2)).toMatch(/ are known only from the directory: .* named them\.$/);
});

test('a caveat states the number of labelers with a listed gap, and the number whose gaps exceed a day in total', async () => {
  const now = micros(30 * day);
  const gap = (source: string | null, from: number, to: number) => ({
    ...{ source, start: micros(from * day), end: micros(to * day) },
    reason: 'source_unavailable' as const,
  });
  const stated = async (gaps: readonly StoredGap[]) =>
    (await makeOverview(readingOf([], { gaps }), { ...inputs, now })).caveats.at(-1);
  expect(await stated([gap(null, 1, 9), gap('did:plc:a', -2, 0), gap('did:plc:other', 1, 9)])).toBe(
    '3 of 3 labelers have no gap of their own in the window.',
  );
  // Two gaps of one labeler over the same time count once.
  const twice = [gap('did:plc:a', 1, 1.6), { ...gap('did:plc:a', 1, 1.6), reason: 'ingest_paused' as const }];
  expect(await stated(twice)).toBe(
    '2 of 3 labelers have no gap of their own in the window; 1 has gaps, for at most a day in total.',
  );
  expect(await stated([...twice, gap('did:plc:b', 25, 25.5)])).toBe(
    '1 of 3 labelers has no gap of its own in the window; 2 have gaps, none of them for more than a day in total.',
  );
  expect(await stated([...twice, gap('did:plc:b', 25, 40)])).toBe(
    '1 of 3 labelers has no gap of its own in the window; 2 have gaps, 1 of them for more than a day in total.',
  );
});

test('a labeler that never responded does not count as without gaps, although no gap of it is stored', async () => {
  const sources = inputs.sources.map((source) => ({ ...source, answered: source.did !== 'did:plc:c' }));
  const gap = { start: micros(day), end: micros(day + hour), reason: 'source_unavailable' as const };
  const stated = async (over: Partial<OverviewInputs>, ...gapped: readonly string[]) => {
    const gaps = gapped.map((source): StoredGap => ({ ...gap, source }));
    return (await makeOverview(readingOf([], { gaps }), { ...inputs, now: micros(30 * day), ...over })).caveats.at(-1);
  };
  expect(await stated({ sources })).toBe(
    '2 of 3 labelers have no gap of their own in the window; 1 has not responded yet.',
  );
  expect(await stated({ sources }, 'did:plc:a')).toBe(
    '1 of 3 labelers has no gap of its own in the window; 1 has gaps, for at most a day in total; 1 has not responded yet.',
  );
  expect(await stated({ sources }, 'did:plc:a', 'did:plc:c')).toBe(
    '1 of 3 labelers has no gap of its own in the window; 2 have gaps, none of them for more than a day in total.',
  );
  expect(await stated({ sources: sources.map((source) => ({ ...source, answered: false })) })).toBe(
    '0 of 3 labelers have no gap of their own in the window; 3 have not responded yet.',
  );
});

test('no caveat names an account, and caveats without a cause are omitted', () => {
  const caveats = caveatsOf(inputs, { counts: [], leftOut: 0 }, [], 0);
  expect(caveats).toHaveLength(4);
  expect(caveats.join()).not.toMatch(/did:|at:\/\//);
});

test('each count covers its own interval: a day, seven days, or the window', async () => {
  const now = micros(100 * day);
  const counted = (...events: readonly number[]) => ({
    counts: events.map((count, i) => ({ labeler: `did:plc:${'abc'[i]}`, events: count })),
    ...{ leftOut: 0, labelers: 0 },
  });
  const reading = readingOf([], { inDay: counted(2), inWeek: counted(8, 2), inWindow: counted(31, 2, 1) });
  const overview = await makeOverview(reading, { ...inputs, now });
  expect(overview.counts).toEqual({
    events_24h: 2,
    events_7d: 10,
    events_window: 34,
    labelers_active_7d: 2,
    labelers_active_window: 3,
  });
  expect(overview.labeler_count).toBe(3);
  expect(overview.top_labelers_7d).toEqual([
    { labeler_did: 'did:plc:a', count: 8 },
    { labeler_did: 'did:plc:b', count: 2 },
  ]);
});

test('gaps of a departed labeler stay in the overview as long as its events are counted', async () => {
  const now = micros(100 * day);
  const departure = { start: micros(now - 2 * day), end: now, reason: 'source_unavailable' as const };
  const gaps = [{ ...departure, source: 'did:plc:gone', start: micros(now - 3 * day), end: departure.start }];
  const departures = [{ ...departure, source: 'did:plc:gone' }];
  const gapsOf = async (labeler: string) =>
    (await makeOverview(readingOf([[labeler, 1]], { gaps }), { ...inputs, now, departures })).coverage.gaps;
  expect(await gapsOf('did:plc:gone')).toEqual([
    { start: '1970-04-08T00:00:00.000Z', end: '1970-04-11T00:00:00.000Z', reason: 'source_unavailable' },
  ]);
  expect(await gapsOf('did:plc:a')).toEqual([]);
});

test('a caveat states the number of denied labelers if there are any', () => {
  const denied = (count: number) =>
    caveatsOf({ ...inputs, denied: count }, counts, [], 0).filter((text) => /denied/.test(text));
  expect(denied(0)).toEqual([]);
  expect(denied(1)).toEqual(['1 labeler is denied by the operator of this instrument and not read.']);
  expect(denied(3)).toEqual(['3 labelers are denied by the operator of this instrument and not read.']);
});

test('a labeler that is paused, or was paused within the last seven days, is not ranked', async () => {
  const now = micros(100 * day);
  const dids = ['did:plc:a', 'did:plc:b', 'did:plc:c', 'did:plc:d'];
  const interval = { start: micros(now - 2 * day), end: micros(now - day) };
  const earlier = { start: micros(now - 20 * day), end: micros(now - 8 * day) };
  const gaps = [
    { ...interval, reason: 'ingest_paused' as const, source: 'did:plc:b' },
    { ...interval, reason: 'source_unavailable' as const, source: 'did:plc:c' },
    { ...earlier, reason: 'ingest_paused' as const, source: 'did:plc:d' },
  ];
  const reading = readingOf(
    dids.map((did) => [did, 5]),
    { gaps },
  );
  const { top_labelers_7d: top } = await makeOverview(reading, {
    ...inputs,
    now,
    capped: new Map([['did:plc:a', 'class']]),
  });
  expect(top.map(({ labeler_did }) => labeler_did)).toEqual(['did:plc:c', 'did:plc:d']);
});

test('the ten labelers with the most events of the last seven days are ranked', async () => {
  const counted = Array.from({ length: 12 }, (_, at) => [`did:plc:${'abcdefghijkl'[at]}`, 20 - at] as const);
  const { top_labelers_7d: top } = await makeOverview(readingOf(counted), inputs);
  expect(top).toEqual(counted.slice(0, 10).map(([labeler_did, count]) => ({ labeler_did, count })));
});

test('a caveat states the number of rows that are excluded because they repeat known labels', async () => {
  const inWindow = { counts: [{ labeler: 'did:plc:a', events: 200 }], leftOut: 850, labelers: 2 };
  expect((await makeOverview(readingOf([], { inWindow }), inputs)).caveats).toContain(
    '850 rows of the window, from 2 labelers that changed their keys, repeat known labels with a new date: they are stored, ' +
      'but not counted as new events.',
  );
});

test('the total in the caveat about refused rows includes the stored rows that are not counted', async () => {
  const inWindow = { counts: [{ labeler: 'did:plc:a', events: 200 }], leftOut: 850, labelers: 2 };
  const refusals = [{ source: 'did:plc:a', reason: 'malformed', count: 2 }] as const;
  expect((await makeOverview(readingOf([], { inWindow, refusals }), inputs)).caveats).toContain(
    '2 of 1052 rows of the window were refused because of their form, size or author.',
  );
});

test('a caveat states the number of removed rows about spaces', async () => {
  const spaceRemoval = { rows: 12, completedAt: micros(20_000 * day) };
  expect((await makeOverview(readingOf([], { spaceRemoval }), inputs)).caveats).toContainEqual(
    expect.stringContaining('Removed by 2024-10-04: 12 labels on subjects inside spaces'),
  );
});

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
const summaryOf = (over: Partial<Parameters<typeof summarizeGaps>[0]>) =>
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
