import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MemoryContent, type MemoryRow, windowStore } from '../../../../harness/labels/window-store.ts';
import { folderInTest } from '../../../../harness/process/folder.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../../artifact/hours/labels-hours.ts';
import type { StoredGap } from '../../../store/port.ts';
import { day, hour, micros, minute, second } from '../../../store/time.ts';
import { FilledIn } from '../../state/filled-in.ts';
import type { ListedLabeler } from '../labelers/listed-labeler.ts';
import { WindowReader } from '../window/window-reader.ts';
import { closedHours, FilledInCounts, HourCounts, SourceHistory } from './hour-counts.ts';
import { HoursPublisher, makeHours, readEarlierHours } from './labels-hours.ts';

/** Tests of the hours file, which counts accepted rows by hour and labeler. A count is 0 only for observed time. */

const start = micros(Date.parse('2026-11-10T00:00:00Z') * 1000);
const [a, b] = ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'];

function listed(did: string, times: Partial<ListedLabeler> = {}): ListedLabeler {
  return {
    ...{ did, handle: null, enrolled: true, state: 'established', stateSince: start, problem: null },
    ...{ provenance: new Set(['seeds']), readBy: 'stream', firstAnswered: start, lastAnswered: null },
    ...{ replacesRows: null, departure: null, dated: true },
    ...times,
  };
}

interface Made {
  readonly content: MemoryContent;
  readonly now: number;
  readonly entries?: readonly ListedLabeler[];
  readonly sources?: SourceHistory;
  readonly counts?: HourCounts;
  readonly maxBytes?: number;
}

async function made({ content, now, entries = [listed(a)], sources, counts, maxBytes }: Made): Promise<LabelsHours> {
  const store = windowStore(() => content);
  const reading = await new WindowReader(store).read(micros(now), 30);
  const hours = closedHours(now, reading.frontier, reading.epoch.startedAt);
  const counted = await (counts ?? new HourCounts(store)).read(hours);
  const history = sources ?? new SourceHistory();
  const { head, labelers } = await makeHours(
    {
      ...{ reading, hours, counted, entries, sources: history, origin: 'live' },
      filledIn: new FilledInCounts(store),
    },
    maxBytes,
  );
  const file: unknown = { ...head, labelers: labelers.map((json): unknown => JSON.parse(json)) };
  const recognised = recogniseLabelsHours(file);
  expect(recognised).toMatchObject({ kind: 'recognised' });
  return file as LabelsHours;
}

const rowsAt = (labeler: string, ...at: number[]): MemoryRow[] => at.map((one) => ({ labeler, at: one }));
const ofHour = ({ labelers }: LabelsHours, did: string, index: number) => {
  const one = labelers.find((labeler) => labeler.labeler_did === did);
  return [one?.applications.at(index), one?.removals.at(index), one?.observed_seconds.at(index)];
};

test('each hour counts the accepted rows of each labeler and their sum over all labelers', async () => {
  const rows = [
    ...rowsAt(a, start + 1, start + hour - 1, start + hour),
    { labeler: a, at: start + hour + 5, removed: true },
    ...rowsAt(b, start + hour + 6),
  ];
  const now = start + 2 * hour + 61 * second;
  const entries = [listed(a), listed(b, { firstAnswered: micros(start + hour + 30 * minute) })];
  const file = await made({ content: { startedAt: start, rows, observedThrough: now }, now, entries });
  expect(file.through).toBe('2026-11-10T02:00:00.000Z');
  expect(file.hours).toHaveLength(72);
  expect(file.hours.slice(-3)).toMatchObject([
    { complete: true, observed_seconds: 0, labeler_seconds: 0, applications: null, removals: null, repeats: null },
    { complete: true, observed_seconds: 3600, labeler_seconds: 3600, applications: 2, removals: 0, repeats: 0 },
    { complete: true, observed_seconds: 3600, labeler_seconds: 5400, applications: 2, removals: 1, repeats: 0 },
  ]);
  expect([-3, -2, -1].map((at) => ofHour(file, a, at))).toEqual([
    [null, null, 0],
    [2, 0, 3600],
    [1, 1, 3600],
  ]);
  expect([-2, -1].map((at) => ofHour(file, b, at))).toEqual([
    [null, null, 0],
    [1, 0, 1800],
  ]);
});

/** Labels that arrive once a minute, except during an outage; the missed ones arrive together in its last minute. */
function rowsAround(labeler: string, [from, until]: readonly [number, number], end: number): MemoryRow[] {
  return Array.from({ length: end / minute }, (_, at) => {
    const isMissed = at >= from && at < until;
    return { labeler, at: start + (isMissed ? until * minute : at * minute) + at + 1 };
  });
}

const rateOf = (file: LabelsHours, did: string, index: number): number | null => {
  const late = file.labelers.find((one) => one.labeler_did === did)?.filled_in?.find(({ at }) => at === 72 + index);
  const [applied, removed, seconds] = ofHour(file, did, index);
  const time = (seconds ?? 0) - (late?.observed_seconds ?? 0);
  const rows = (applied ?? 0) + (removed ?? 0) - (late?.applications ?? 0) - (late?.removals ?? 0);
  return time === 0 ? null : (rows / time) * 3_600;
};

test('labels that arrive after five hours without the instrument are counted in that hour, but belong to no rate', async () => {
  const [from, until] = [2 * 60 + 9, 7 * 60 + 10];
  const gap = { source: null, start: micros(start + from * minute), end: micros(start + until * minute) };
  const content: MemoryContent = {
    startedAt: start,
    rows: rowsAround(a, [from, until], 10 * hour),
    gaps: [{ ...gap, reason: 'ingest_paused' }],
    observedThrough: start + 10 * hour,
  };
  const file = await made({ content, now: start + 10 * hour + minute });
  expect(ofHour(file, a, -3)).toEqual([351, 0, 3000]);
  expect(file.hours.at(-3)).toMatchObject({
    ...{ applications: 351, observed_seconds: 3000, labels_per_hour: 60 },
    filled_in: { applications: 303, removals: 0, observed_seconds: 120, labeler_seconds: 120 },
  });
  expect([-10, -9, -8, -7, -6, -5, -4, -3, -2, -1].map((at) => file.hours.at(at)?.labels_per_hour)).toEqual([
    ...[60, 60, null, null, null, null, null],
    ...[60, 60, 60],
  ]);
  expect(rateOf(file, a, -3)).toBe(60);
});

test.each([0, 30 * second, 119 * second])(
  'labels of the oldest hour that follow an interruption by less than two minutes (%i us) belong to no rate',
  async (before) => {
    const end = start + 6 * hour - before;
    const content: MemoryContent = {
      startedAt: start,
      rows: Array.from({ length: 79 * 60 }, (_, at) => ({ labeler: a, at: start + at * minute + 1 })).filter(
        ({ at }) => at < end - 40 * minute || at >= end,
      ),
      gaps: [{ source: null, start: micros(end - 40 * minute), end: micros(end), reason: 'ingest_paused' }],
      observedThrough: start + 79 * hour,
    };
    // The hour is the second one of the first file, and the oldest one of the second file.
    const [earlier, oldest] = [
      (await made({ content, now: start + 77 * hour + minute })).hours[1],
      (await made({ content, now: start + 78 * hour + minute })).hours[0],
    ];
    expect(oldest).toEqual(earlier);
    const late = Math.ceil((2 * minute - before) / minute);
    expect(oldest).toMatchObject({
      ...{ applications: 60, observed_seconds: 3600, labels_per_hour: 60 },
      filled_in: { applications: late, removals: 0, observed_seconds: 60 * late, labeler_seconds: 60 * late },
    });
  },
);

test('the time of an outage that was filled in belongs to no rate, although its gap was withdrawn', async () => {
  const [from, until] = [2 * 60 + 20, 4 * 60 + 20];
  const filledIn = new FilledIn();
  const changes = filledIn.covering(b, micros(start + from * minute)).changesAt(micros(start + until * minute));
  const content: MemoryContent = {
    startedAt: start,
    rows: [...rowsAround(a, [0, 0], 6 * hour), ...rowsAround(b, [from, until], 6 * hour)],
    positions: changes.map((one) => ({ ...one, value: one.value ?? '', acceptedAt: start })),
    observedThrough: start + 6 * hour,
  };
  const file = await made({ content, now: start + 6 * hour + minute, entries: [listed(a), listed(b)] });
  expect([-4, -3, -2].map((at) => ofHour(file, b, at))).toEqual([
    [20, 0, 3600],
    [0, 0, 3600],
    [160, 0, 3600],
  ]);
  // Only a third of the hour before the outage belongs to the rate of `b`, so the sum of that hour omits `b`.
  expect([-5, -4, -3, -2, -1].map((at) => rateOf(file, b, at))).toEqual([60, 60, null, 60, 60]);
  expect([-5, -4, -3, -2, -1].map((at) => rateOf(file, a, at))).toEqual([60, 60, 60, 60, 60]);
  expect(file.hours.slice(-5).map((one) => one.labels_per_hour)).toEqual([120, 60, 60, 120, 120]);
  expect(file.hours.at(-2)?.filled_in).toEqual({
    ...{ applications: 122, removals: 0, observed_seconds: 0, labeler_seconds: 1320 },
  });
});

test('rows that were accepted in a gap of their labeler belong to no rate', async () => {
  const gap = { source: a, start: micros(start + hour), end: micros(start + 90 * minute) };
  const content: MemoryContent = {
    ...{ startedAt: start, rows: rowsAround(a, [0, 0], 2 * hour), observedThrough: start + 2 * hour },
    gaps: [{ ...gap, reason: 'ingest_paused' }],
  };
  const file = await made({ content, now: start + 2 * hour + minute });
  expect(ofHour(file, a, -1)).toEqual([60, 0, 1800]);
  expect(rateOf(file, a, -1)).toBe(60);
});

test('an hour is complete one minute after its end, and includes only closed minutes before then', async () => {
  const rows = rowsAt(a, start + 10 * minute, start + 58 * minute + 30 * second, start + hour - 1);
  const at = async (now: number) => {
    const file = await made({ content: { startedAt: start, rows, observedThrough: now }, now });
    return [file.hours.at(-1), ofHour(file, a, -1)];
  };
  expect(await at(start + hour + 59 * second)).toMatchObject([
    { complete: false, observed_seconds: 3540, applications: 2 },
    [2, 0, 3540],
  ]);
  expect(await at(start + hour + 60 * second)).toMatchObject([
    { complete: true, observed_seconds: 3600, applications: 3 },
    [3, 0, 3600],
  ]);
});

test('gaps of a labeler and of the instrument do not count as observed time', async () => {
  const gaps: StoredGap[] = [
    { source: null, start: micros(start + hour), end: micros(start + 2 * hour), reason: 'ingest_paused' },
    { source: a, start: micros(start + 30 * minute), end: micros(start + 90 * minute), reason: 'source_unavailable' },
    { source: a, start: micros(start + 2 * hour), end: micros(start + 2 * hour + 1), reason: 'cursor_reset' },
  ];
  const now = start + 3 * hour + minute;
  const file = await made({ content: { startedAt: start, rows: [], gaps, observedThrough: now }, now });
  expect([-3, -2, -1].map((at) => ofHour(file, a, at))).toEqual([
    [0, 0, 1800],
    [null, null, 0],
    // A gap of one microsecond makes the observed time shorter than the hour.
    [0, 0, 3599.999],
  ]);
  expect(file.hours.slice(-3).map(({ observed_seconds: seconds }) => seconds)).toEqual([3600, 0, 3600]);
  expect(file.gaps).toEqual([
    { start: '2026-11-07T03:00:00.000Z', end: '2026-11-10T00:00:00.000Z', reason: 'not_observed' },
    { start: '2026-11-10T01:00:00.000Z', end: '2026-11-10T02:00:00.000Z', reason: 'ingest_paused' },
  ]);
  expect(file.labelers[0]?.gaps).toEqual([
    { start: '2026-11-07T03:00:00.000Z', end: '2026-11-10T00:00:00.000Z', reason: 'not_observed' },
    { start: '2026-11-10T00:30:00.000Z', end: '2026-11-10T01:30:00.000Z', reason: 'source_unavailable' },
    { start: '2026-11-10T02:00:00.000Z', end: '2026-11-10T02:00:00.001Z', reason: 'cursor_reset' },
  ]);
});

test('time after the last accepted page is a gap of the instrument', async () => {
  const now = start + 2 * hour + minute;
  const observedThrough = start + hour;
  const entries = [listed(a, { lastAnswered: micros(observedThrough) })];
  const file = await made({ content: { startedAt: start, rows: [], observedThrough }, now, entries });
  expect(ofHour(file, a, -1)).toEqual([null, null, 0]);
  expect(file.hours.at(-1)).toMatchObject({ complete: true, observed_seconds: 0, applications: null });
  expect(file.gaps.at(-1)).toMatchObject({ start: '2026-11-10T01:00:00.000Z', reason: 'source_unavailable' });
});

test.each(['maintenance', 'ingest_paused'] as const)(
  'a labeler is not unavailable during a gap of the instrument with the reason %s',
  async (reason) => {
    const paused = { source: null, start: micros(start + hour), end: micros(start + 2 * hour), reason };
    const now = start + 2 * hour + minute;
    const content: MemoryContent = { startedAt: start, rows: [], gaps: [paused], observedThrough: now };
    const entries = [listed(a, { lastAnswered: micros(start + 52 * minute) })];
    const { labelers } = await made({ content, now, entries });
    expect(labelers.map(({ gaps, observed_seconds }) => [gaps, observed_seconds.slice(-2)])).toEqual([
      [[{ start: '2026-11-07T02:00:00.000Z', end: '2026-11-10T00:00:00.000Z', reason: 'not_observed' }], [3600, 0]],
    ]);
  },
);

test('a labeler is not unavailable after a gap of the instrument that is longer than the file', async () => {
  const began = start - 80 * hour;
  const now = start + 2 * hour + minute;
  // The store returns the part of the gap that is in the file.
  const from = micros(start - 70 * hour);
  const paused = { source: null, start: from, end: micros(now - 2 * minute), reason: 'maintenance' } as const;
  const content: MemoryContent = { startedAt: micros(began - hour), rows: [], gaps: [paused], observedThrough: now };
  const entries = [listed(a, { firstAnswered: micros(began - hour), lastAnswered: micros(began) })];
  const { labelers } = await made({ content, now, entries });
  expect(labelers.map(({ gaps, observed_seconds }) => [gaps, observed_seconds.at(-1)])).toEqual([[[], 60]]);
});

test('rows in the unobserved time of a labeler are counted, and a count of no rows in this time is null instead of 0', async () => {
  const now = start + hour + minute;
  const entries = [listed(a, { firstAnswered: null })];
  const content = { startedAt: start, rows: rowsAt(a, start + 5), observedThrough: now };
  expect(ofHour(await made({ content, now, entries }), a, -1)).toEqual([1, null, 0]);
});

test('repeats are subtracted from the counts and reported, even if they are found after the hour was complete', async () => {
  const rows = [
    ...Array.from({ length: 150 }, (_, i) => ({ labeler: a, at: start + i })),
    ...rowsAt(a, start + 2 * hour),
  ];
  const now = start + 2 * hour + 61 * second;
  const content: MemoryContent = { startedAt: start, rows, observedThrough: now };
  const counts = new HourCounts(windowStore(() => content));
  expect(ofHour(await made({ content, now, counts }), a, -2)).toEqual([150, 0, 3600]);
  const value = `${(start / minute).toString(36)}.${(150).toString(36)}`;
  const positions = [{ source: a, endpoint: 'repeats', value, acceptedAt: micros(now) }];
  const file = await made({ content: { ...content, positions }, now, counts });
  expect(ofHour(file, a, -2)).toEqual([0, 0, 3600]);
  expect(file.hours.at(-2)).toMatchObject({ applications: 0, repeats: 150 });
});

test('a second read requests only hours that can still change, unless rows were purged', async () => {
  let content: MemoryContent = { startedAt: start, rows: rowsAt(a, start + 1, start + 80 * hour) };
  let requests = 0;
  const store = windowStore(() => content);
  const counts = new HourCounts({
    ...store,
    countsByLabeler: (interval) => {
      requests += 1;
      return store.countsByLabeler(interval);
    },
  });
  const read = async (now: number) => {
    requests = 0;
    await made({ content, now, counts });
    return requests;
  };
  expect(await read(start + 80 * hour + 10 * minute)).toBe(72);
  expect(await read(start + 80 * hour + 11 * minute)).toBe(1);
  content = { ...content, rows: [...content.rows, ...rowsAt(a, start + 81 * hour + 5)] };
  expect(await read(start + 81 * hour + 10 * minute)).toBe(2);
  expect(await read(start + 81 * hour + 11 * minute)).toBe(1);
  content = { ...content, revision: 2 };
  expect(await read(start + 81 * hour + 12 * minute)).toBe(72);
});

test('the file stays as it is if rows of a labeler are removed after the reading, which has no gap in their place', async () => {
  const folder = folderInTest();
  const now = micros(start + 2 * hour + minute);
  let content: MemoryContent = { startedAt: start, rows: rowsAt(a, start + 5, start + hour + 5), observedThrough: now };
  const store = windowStore(() => content);
  const publisher = new HoursPublisher({ store, folder, origin: 'live', clock: () => now });
  const sources = {
    ...{ at: new Date(now / 1000).toISOString(), enrolled: 1, established: 1, unstarted: 0, probing: 0, refused: 0 },
    ...{ cursor_order_unverified: 0, undated_only: 0, provider_rejects: 0, unavailable: 0 },
  };
  const read = () => new WindowReader(store).read(now, 30);
  const published = async (reading: Awaited<ReturnType<typeof read>>) => {
    await publisher.publish({ reading, entries: [listed(a)], sources });
    return JSON.parse(readFileSync(join(folder, 'labels-hours.json'), 'utf8')) as LabelsHours;
  };
  const before = await read();
  const gap: StoredGap = { source: a, start, end: now, reason: 'maintenance' };
  const purge = { source: a, requestedAt: now, completedAt: null, rows: 2, daysLeft: 1 };
  const file = await published(before);
  expect(ofHour(file, a, -1)).toEqual([1, 0, 3600]);
  content = { ...content, rows: [], revision: 1, gaps: [gap], purges: [purge] };
  expect(await published(before)).toEqual(file);
  // The next reading has the gap, and a purge that is not completed does not delay the file.
  expect(ofHour(await published(await read()), a, -1)).toEqual([null, null, 0]);
});

test('hours that are no longer retained are omitted, and hours before the epoch are not observed', async () => {
  const now = start + 30 * hour + minute;
  const floor = start + day;
  const content: MemoryContent = { startedAt: start - 5 * day, floor, rows: [], observedThrough: now };
  expect((await made({ content, now })).hours).toHaveLength(6);
  const young = await made({ content: { startedAt: floor, rows: [], observedThrough: now }, now });
  expect(young.hours).toHaveLength(72);
  expect(young.hours.at(0)).toMatchObject({ applications: null, observed_seconds: 0 });
});

test('the source states of an hour come from its last publication, and the states of earlier hours survive a restart', async () => {
  const sample = (at: number, enrolled: number) => ({
    ...{ at: new Date(at / 1000).toISOString(), enrolled, established: enrolled, unstarted: 0, probing: 0, refused: 0 },
    ...{ cursor_order_unverified: 0, undated_only: 0, provider_rejects: 0, unavailable: 0 },
  });
  const sources = new SourceHistory();
  sources.add(sample(start + 5 * minute, 1));
  sources.add(sample(start + 59 * minute, 2));
  sources.add(sample(start + 2 * hour, 3));
  const now = start + 3 * hour + minute;
  const content: MemoryContent = { startedAt: start, rows: [], observedThrough: now };
  const before = await made({ content, now, sources });
  expect(before.hours.slice(-3).map((one) => one.sources?.enrolled ?? null)).toEqual([2, null, 3]);
  const loaded = new SourceHistory();
  loaded.load(before, before.generation_id);
  expect((await made({ content, now, sources: loaded })).hours).toEqual(before.hours);
  const foreign = new SourceHistory();
  foreign.load(before, '00000000-0000-4000-8000-00000000000f');
  expect((await made({ content, now, sources: foreign })).hours.every((one) => one.sources === null)).toBe(true);
});

test('if not all labelers fit into the file, labelers with events are listed, and the sums include the omitted labelers', async () => {
  const dids = Array.from(
    { length: 40 },
    (_, i) => `did:plc:${String.fromCharCode(97 + (i % 26)).repeat(23)}${2 + (i % 6)}`,
  );
  const all = [...new Set(dids)].sort();
  const last = all.at(-1) ?? '';
  const now = start + hour + minute;
  const content = { startedAt: start, rows: rowsAt(last, start + 1), observedThrough: now };
  const entries = all.map((did) => listed(did));
  const file = await made({ content, now, entries, maxBytes: 128 * 1024 + 10_000 });
  expect(file.omitted).toBe(all.length - file.labelers.length);
  expect(file.labelers.length).toBeLessThan(all.length);
  expect(file.labelers.at(-1)?.labeler_did).toBe(last);
  expect(file.hours.at(-1)).toMatchObject({ labeler_seconds: 3600 * all.length, applications: 1 });
});

test('many new active labelers do not displace seeded or long-established labelers from the file', async () => {
  const now = start + 8 * day;
  const stranger = { provenance: new Set(['directory plc.example']), firstAnswered: micros(start + 2 * day) };
  const dids = Array.from(
    { length: 40 },
    (_, i) => `did:plc:22222222222222222222222${'abcdefghijklmnopqrstuvwxyz234567'[i % 32]}`,
  );
  const strangers = [...new Set(dids)].map((did) => listed(did, stranger));
  const established = listed(a, { provenance: new Set(['relay relay.example']) });
  const entries = [...strangers, established, listed(b, { firstAnswered: micros(now - hour) })];
  const rows = strangers.flatMap(({ did }) => rowsAt(did, now - 2 * hour));
  const content = { startedAt: start, rows, observedThrough: now };
  const file = await made({ content, now, entries, maxBytes: 128 * 1024 + 10_000 });
  expect(file.omitted).toBeGreaterThan(20);
  expect(file.labelers.map(({ labeler_did: did }) => did)).toEqual(expect.arrayContaining([a, b]));
});

test('labelers that relayed only labels of other labelers for 7 days do not displace long-established labelers', async () => {
  const now = start + 8 * day;
  const relay = { provenance: new Set(['directory plc.example']), firstAnswered: start, dated: false };
  const strangers = Array.from({ length: 30 }, (_, i) =>
    listed(`did:plc:22222222222222222222222${'abcdefghijklmnopqrstuvwxyz234567'[i]}`, relay),
  );
  const established = listed(a, { provenance: new Set(['relay relay.example']), firstAnswered: micros(start + hour) });
  const content = { startedAt: start, rows: [], observedThrough: now };
  const file = await made({ content, now, entries: [...strangers, established], maxBytes: 128 * 1024 + 10_000 });
  expect(file.omitted).toBeGreaterThan(10);
  expect(file.labelers.map(({ labeler_did: did }) => did)).toContain(a);
});

test('the counts of each hour equal the counts of its rows in every read while rows arrive', async () => {
  const anyRow = fc.record({
    labeler: fc.constantFrom(a, b),
    at: fc.integer({ min: 0, max: 5 * 60 }).map((at) => start + at * minute),
    removed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRow, { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 7200 }), { minLength: 1, maxLength: 4 }),
      async (generated, pauses) => {
        const rows = generated.toSorted((x, y) => x.at - y.at);
        let now = start + hour;
        const content = (): MemoryContent => ({
          startedAt: start,
          rows: rows.filter(({ at }) => at < now),
          observedThrough: now,
        });
        const counts = new HourCounts(windowStore(content));
        for (const pause of pauses) {
          now += pause * second;
          const file = await made({ content: content(), now, counts, entries: [listed(a), listed(b)] });
          const through = Date.parse(file.through) * 1000;
          for (const [at, { start: from }] of file.hours.entries()) {
            const begin = Date.parse(from) * 1000;
            if (begin < start) continue;
            const own = rows.filter((row) => row.at >= begin && row.at < Math.min(begin + hour, through));
            for (const did of [a, b]) {
              const of = own.filter(({ labeler }) => labeler === did);
              const removed = of.filter((row) => row.removed).length;
              expect(ofHour(file, did, at).slice(0, 2)).toEqual([of.length - removed, removed]);
            }
          }
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('the source states are read from a file of several megabytes without its list of labelers', async () => {
  const folder = folderInTest();
  const path = join(folder, 'labels-hours.json');
  expect(await readEarlierHours(path)).toBeNull();
  const now = start + hour + minute;
  const sources = new SourceHistory();
  sources.add({ ...noSources, at: '2026-11-10T00:30:00.000Z' });
  const file = await made({
    content: { startedAt: start, rows: rowsAt(a, start + 1), observedThrough: now },
    now,
    sources,
  });
  // A hold rewrites the file in one line, and a long list of labelers extends beyond the bytes that are read.
  const labelers = Array.from({ length: 2_000 }, () => file.labelers[0]);
  writeFileSync(path, JSON.stringify({ ...file, labelers }));
  const earlier = await readEarlierHours(path);
  expect(earlier).toMatchObject({ labelers: [], hours: file.hours, generation_id: file.generation_id });
  writeFileSync(path, '{"labelers":[');
  expect(await readEarlierHours(path)).toBeNull();
});

const noSources = {
  ...{ enrolled: 1, unstarted: 0, probing: 0, refused: 0, established: 1, cursor_order_unverified: 0 },
  ...{ undated_only: 0, provider_rejects: 0, unavailable: 0 },
};
