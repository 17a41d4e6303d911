import { describe, expect, it } from 'vitest';
import { account, fill, labelers, writerInTest } from '../../../harness/accounts/account.ts';
import { bodyOf, linesOf } from '../../../harness/accounts/account-view.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import type { Frontier, StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day, hour, micros, minute } from '../../store/time.ts';
import type { RowStore } from '../query/account-store.ts';
import { type AccountView, createViewReader } from './view.ts';

const noon = 20_000 * 86_400_000_000 + 43_200_000_000;

it.each([12, 300])(
  'all parts of a page with %s rows end at the same frontier, even if rows are accepted while the page is built',
  async (count) => {
    const writer = writerInTest(folderInTest(), noon);
    await fill(writer, count, { at: noon + 1_000_000 });
    let next = count;
    const grown = async (): Promise<void> => {
      await fill(writer, 10, { from: next, at: noon + 2_000_000 });
      next += 10;
    };
    const store: RowStore = {
      ...writer,
      tallyAccount: async (asked) => {
        await grown();
        const tally = await writer.tallyAccount(asked);
        await grown();
        return tally;
      },
    };
    const view = await createViewReader(() => 0)(store, {
      query: { account, asked: { kind: 'days', days: 7 }, filters: {} },
      before: null,
      now: micros(noon + 60_000_000),
    });
    if (view === 'out_of_window') throw new Error(view);
    const { rows, parts, frontier, tally, interval } = view;
    expect({ rows, total: parts.reduce((sum, { total }) => sum + (total ?? 0), 0) }).toEqual({
      rows: count,
      total: count,
    });
    const newest = parts.flatMap((part) => part.rows).map(({ observedAt }) => observedAt);
    expect(Math.max(...newest)).toBe(frontier.end - 1);
    // The days must still cover the whole interval.
    expect([tally.days[0]?.start, tally.days.at(-1)?.end]).toEqual([interval.start, interval.end]);
  },
);

describe('a page during which rows are removed', () => {
  /** Creates a store that removes the rows of one labeler after each of the first `removals` tallies. */
  async function shrinking(removals: number) {
    const writer = writerInTest(folderInTest(), noon);
    await fill(writer, 12, { at: noon + 1_000_000 });
    let tallies = 0;
    const store: RowStore = {
      ...writer,
      tallyAccount: async (asked) => {
        const tally = await writer.tallyAccount(asked);
        tallies += 1;
        if (tallies <= removals) {
          const at = micros(noon + hour + tallies);
          await writer.requestPurge({ source: labelers[0], at });
          while (await writer.purge(at));
        }
        return tally;
      },
    };
    const read = () =>
      createViewReader(() => 0)(store, {
        query: { account, asked: { kind: 'days', days: 7 }, filters: {} },
        ...{ before: null, now: micros(noon + 2 * hour) },
      });
    return { read, tallies: () => tallies };
  }

  it.each([1, 2])('is read again, so that its counts agree with its rows (%i times)', async (removals) => {
    const { read, tallies } = await shrinking(removals);
    const view = await read();
    if (view === 'out_of_window') throw new Error(view);
    const shown = view.parts.flatMap((part) => part.rows);
    expect(shown.map(({ label }) => label.src)).toEqual(Array(6).fill(labelers[1]));
    expect([view.rows, view.parts.reduce((sum, { total }) => sum + (total ?? 0), 0)]).toEqual([6, 6]);
    expect(tallies()).toBe(removals + 1);
  });

  it('is refused as busy if rows are removed during each of three reads', async () => {
    const { read, tallies } = await shrinking(3);
    await expect(read()).rejects.toMatchObject({ code: 'busy' });
    expect(tallies()).toBe(3);
  });
});

it('an interval without rows has days with counts of zero', async () => {
  const writer = writerInTest(folderInTest(), noon);
  await fill(writer, 3, { at: noon + 1_000_000 });
  const start = micros(noon + 2_000_000);
  const end = micros(noon + 2 * 86_400_000_000);
  const view = await createViewReader(() => 0)(writer, {
    query: { account, asked: { kind: 'explicit', start, end }, filters: {} },
    before: null,
    now: end,
  });
  if (view === 'out_of_window') throw new Error(view);
  expect(view.tally.days.map(({ counts }) => counts?.rows)).toEqual([0, 0, 0]);
  expect(view.parts.map(({ rows, next }) => ({ rows, next }))).toEqual(Array(3).fill({ rows: [], next: null }));
});

const rows = 3;
const [known, gone, stranger] = ['did:web:known.example', 'did:web:gone.example', 'did:web:stranger.example'] as const;

/** Creates a view of the last seven days, for a store that began seven days ago with several rows. */
async function viewWith(
  { roster = [], gaps = [] }: { readonly roster?: readonly RosterRow[]; readonly gaps?: readonly StoredGap[] },
  {
    labeler,
    now = end,
    received = {},
  }: { readonly labeler?: string; readonly now?: number; readonly received?: Pick<Frontier, 'replicatedThrough'> } = {},
): Promise<AccountView> {
  const writer = writerInTest(folderInTest(), noon);
  await fill(writer, rows, { at: noon + 1_000_000 });
  await writer.putRoster([...labelers.map((did) => row(did, 'established')), ...roster]);
  for (const gap of gaps) await writer.recordGap(gap);
  const positions = labelers.map((source) => ({ source, endpoint: 'https://labeler.example', value: '1' }));
  await writer.append({ at: micros(end - 1_000_000), observations: [], refusals: [], positions });
  const filters = labeler === undefined ? {} : { labeler };
  const store: RowStore = { ...writer, frontier: async () => ({ ...(await writer.frontier()), ...received }) };
  const view = await createViewReader(() => 0)(store, {
    query: { account, asked: { kind: 'days', days: 7 }, filters },
    before: null,
    now: micros(now),
  });
  if (view === 'out_of_window') throw new Error(view);
  return view;
}

const end = noon + 7 * day;

function row(did: string, state: string, changes: Partial<RosterRow> = {}): RosterRow {
  return rosterRow(did, { state, stateSince: micros(noon), ...changes });
}

describe('a page with a labeler filter', () => {
  it.each([
    [
      'that has never responded',
      [row(known, 'refused')],
      known,
      'This labeler has never been read',
      'State: refuses requests.',
    ],
    [
      'that is not enrolled',
      [row(known, 'unstarted', { enrolled: false })],
      known,
      'This labeler has never been read',
      '',
    ],
    ['that is not known', [], stranger, 'This labeler is unknown', ''],
  ])('shows a labeler %s as unobserved instead of showing zeros', async (_, roster, labeler, said, state) => {
    const view = await viewWith({ roster }, { labeler });
    const { timeline, interval } = view;
    expect(timeline.days.map(({ counts }) => counts)).toEqual(Array(8).fill(null));
    expect(timeline.unseen).toEqual([{ start: interval.start, end: interval.end }]);
    const html = bodyOf(view);
    const text = linesOf(html).join('\n');
    expect(text.split(`${said}: the labels that it applied or removed are unknown.`)).toHaveLength(3);
    expect(text).toContain(state);
    expect(text).toMatch(/^Nothing was observed between .*; events during that time are unknown\.$/m);
    expect(text.match(/\(not observed\)\nThis interval was not observed\./g)).toHaveLength(3);
    expect(text).not.toMatch(
      /\b0 (?:applied|removed)|\(0\)|^0$|No gap of this labeler|No events observed|No observation/m,
    );
    expect(html.match(/class="chart-unseen"/g)).toHaveLength(1);
    expect(html).not.toContain('<title>');
  });

  it('shows a labeler that is no longer enrolled as unobserved since its last response', async () => {
    const lastAnswered = noon + 2 * day;
    const roster = [row(gone, 'established', { enrolled: false, lastAnswered: micros(lastAnswered) })];
    const { timeline } = await viewWith({ roster }, { labeler: gone });
    expect(timeline.unseen).toEqual([{ start: lastAnswered, end }]);
    expect(timeline.days.map(({ counts, unseen }) => (counts ? unseen / hour : null))).toEqual([
      ...[0, 0, 12, null, null, null, null, null],
    ]);
  });

  it('shows a labeler that is no longer enrolled as unobserved since the end of its complete data, if that precedes its last response', async () => {
    const completeThrough = micros(noon + 2 * day);
    const times = { completeThrough, lastAnswered: micros(completeThrough + 3 * hour) };
    const roster = [row(gone, 'established', { enrolled: false, ...times })];
    const { timeline } = await viewWith({ roster }, { labeler: gone });
    expect(timeline.unseen).toEqual([{ start: completeThrough, end }]);
    const { timeline: all } = await viewWith({ roster });
    expect(all.partly).toEqual([{ start: completeThrough, end }]);
  });

  it('shows a labeler with rows that was evicted from the roster as unobserved, except for the counts of its rows', async () => {
    const writer = writerInTest(folderInTest(), noon);
    await fill(writer, rows, { at: noon + 1_000_000 });
    const positions = [{ source: known, endpoint: 'https://known.example', value: '1' }];
    await writer.append({ at: micros(end - 1_000_000), observations: [], refusals: [], positions });
    const view = await createViewReader(() => 0)(writer, {
      query: { account, asked: { kind: 'days', days: 7 }, filters: { labeler: labelers[0] } },
      ...{ before: null, now: micros(end) },
    });
    if (view === 'out_of_window') throw new Error(view);
    const { timeline, interval } = view;
    expect(timeline.unseen).toEqual([{ start: interval.start, end: interval.end }]);
    expect(timeline.days.map(({ counts }) => counts)).toEqual([{ applied: 1, removed: 1 }, ...Array(7).fill(null)]);
    const text = linesOf(bodyOf(view)).join('\n');
    expect(text).toContain('Almanac does not read this labeler now. The time of its last response is unknown.');
    expect(text).not.toContain('No gap of this labeler');
  });

  it('shows a labeler that was evicted from the roster as unknown, even before its position is removed', async () => {
    const writer = writerInTest(folderInTest(), noon);
    const positions = [known, gone].map((source) => ({ source, endpoint: `https://${source}.example`, value: '1' }));
    await writer.append({ at: micros(noon + day), observations: [], refusals: [], positions });
    await writer.putRoster([row(gone, 'established', { enrolled: false })]);
    const read = async (labeler: string) => {
      const view = await createViewReader(() => 0)(writer, {
        query: { account, asked: { kind: 'days', days: 7 }, filters: { labeler } },
        ...{ before: null, now: micros(noon + day) },
      });
      if (view === 'out_of_window') throw new Error(view);
      const [{ reading, lastAsked } = {}] = view.labelers;
      return { reading, lastAsked, unseen: view.timeline.unseen, shown: view.shown };
    };
    const evicted = await read(known);
    expect(evicted).toEqual({
      ...{ reading: 'not_known', lastAsked: null },
      ...{ unseen: [{ start: evicted.shown.start, end: evicted.shown.end }], shown: evicted.shown },
    });
    expect(await read(gone)).toMatchObject({ reading: 'read', lastAsked: noon + day });
  });

  it('shows zeros for the days on which the labeler was read', async () => {
    const roster = [row(known, 'established', { lastAnswered: micros(end - hour) })];
    const view = await viewWith({ roster }, { labeler: known });
    expect(view.timeline.days.map(({ counts }) => counts)).toEqual(Array(8).fill({ applied: 0, removed: 0 }));
    expect(linesOf(bodyOf(view)).join('\n')).toContain(
      '0 applied, 0 removed in this interval, regardless of the filters.',
    );
  });
});

describe('a day of the timeline', () => {
  const own = (from: number, to: number): StoredGap => ({
    ...{ source: null, reason: 'ingest_paused', start: micros(noon + from * day), end: micros(noon + to * day) },
  });
  const countsOf = ({ timeline }: AccountView) => timeline.days.map(({ counts }) => counts);
  const none = { applied: 0, removed: 0 };

  it('has no counts during an interruption, although its rows were counted', async () => {
    const view = await viewWith({ gaps: [own(1.5, 3.5)] });
    expect(view.tally.days.map(({ counts }) => counts?.rows)).toEqual([rows, 0, 0, 0, 0, 0, 0, 0]);
    expect(countsOf(view)).toEqual([{ applied: 2, removed: 1 }, none, null, null, none, none, none, none]);
  });

  it('has no counts after the last accepted page', async () => {
    const view = await viewWith({}, { now: end + 2 * day });
    const [, , , , , lastSeen, after, today] = countsOf(view);
    expect([lastSeen, after, today]).toEqual([none, null, null]);
  });

  it('has no counts before the retained data', async () => {
    const view = await viewWith({}, { now: noon + 2 * day });
    expect(countsOf(view).slice(0, 5)).toEqual(Array(5).fill(null));
    expect(view.timeline.unseen).toEqual([{ start: noon - 5 * day, end: noon }]);
  });

  it('has no counts in a gap of the labeler in the filter, but has zeros in a gap of a different labeler', async () => {
    const gap: StoredGap = { ...own(1.5, 3.5), source: labelers[0], reason: 'source_unavailable' };
    const [, , asked] = countsOf(await viewWith({ gaps: [gap] }, { labeler: labelers[0] }));
    const [, , other] = countsOf(await viewWith({ gaps: [gap] }, { labeler: labelers[1] }));
    const [, , all] = countsOf(await viewWith({ gaps: [gap] }));
    expect([asked, other, all]).toEqual([null, none, none]);
  });

  it('that has too many rows to count has no counts, makes the total unknown, and is reported as uncounted', async () => {
    const writer = writerInTest(folderInTest(), noon);
    await fill(writer, rows, { at: noon + 1_000_000 });
    const store: RowStore = {
      ...writer,
      tallyAccount: async (asked) => {
        const { days, ...others } = await writer.tallyAccount(asked);
        return { days: days.map((one, i) => (i === 0 ? { ...one, counts: null } : one)), ...others };
      },
    };
    const view = await createViewReader(() => 0)(store, {
      query: { account, asked: { kind: 'explicit', start: micros(noon), end: micros(noon + hour) }, filters: {} },
      ...{ before: null, now: micros(noon + hour) },
    });
    if (view === 'out_of_window') throw new Error(view);
    expect([countsOf(view), view.rows, view.timeline.uncounted]).toEqual([[null], null, 1]);
  });
});

it("a labeler's gap is shown even if the cached data about all labelers does not contain the gap", async () => {
  const writer = writerInTest(folderInTest(), noon);
  await fill(writer, rows, { at: noon + 1_000_000 });
  await writer.putRoster(labelers.map((did) => row(did, 'established', { lastAnswered: micros(noon + 4 * minute) })));
  const gap = { start: micros(noon + 2 * minute), end: micros(noon + 3 * minute) };
  const readView = createViewReader(() => 0);
  const read = () =>
    readView(writer, {
      query: { account, asked: { kind: 'explicit', start: micros(noon), end: micros(noon + 5 * minute) }, filters: {} },
      ...{ before: null, now: micros(noon + 5 * minute) },
    });
  await read();
  await writer.recordGap({ source: labelers[0], reason: 'source_unavailable', ...gap });
  const view = await read();
  if (view === 'out_of_window') throw new Error(view);
  expect(view.labelers.find(({ labeler }) => labeler === labelers[0])?.gaps).toMatchObject([gap]);
  expect(view.timeline.partly).toMatchObject([gap]);
});

describe('a page from a standby that has received nothing more since the instrument stopped', () => {
  const standby = { received: { replicatedThrough: micros(end) } };
  const textAt = async (now: number) => linesOf(bodyOf(await viewWith({}, { now, ...standby }))).join('\n');

  it('states in the past tense which labelers were read, once the last page is more than 10 minutes old', async () => {
    expect(await textAt(end + minute)).toContain('2 of 2 labelers that Almanac follows are being read, ');
    expect(await textAt(end + 3 * day)).toContain('2 of 2 labelers that Almanac follows were being read when');
  });

  it('shows the time after the last page as unobserved', async () => {
    const { interval, timeline } = await viewWith({}, { now: end + 3 * day, ...standby });
    expect(interval.end).toBe(end);
    expect(timeline.unseen).toEqual([{ start: end - 1_000_000, end }]);
  });
});

describe('labelers without rows of the account', () => {
  const gap = (source: string, from: number, to: number, reason: StoredGap['reason']): StoredGap => ({
    ...{ source, reason, start: micros(noon + from * hour), end: micros(noon + to * hour) },
  });
  const late = gap(known, 0, 30, 'not_observed');
  const down = [gap(gone, 60, 62, 'source_unavailable'), gap(gone, 62, 63, 'cursor_reset')];
  const roster = [row(known, 'established'), row(gone, 'established')];

  it('are counted in a summary, and their gaps appear in the timeline as partly missed time', async () => {
    const view = await viewWith({ roster, gaps: [late, ...down] });
    const { timeline, missed } = view;
    expect(missed).toEqual({ labelers: 2, longest: 30 * hour });
    expect(timeline.partly).toEqual([
      { start: late.start, end: late.end },
      { start: noon + 60 * hour, end: noon + 63 * hour },
    ]);
    expect(timeline.days.map(({ partly }) => partly / hour)).toEqual([12, 18, 0, 3, 0, 0, 0, 0]);
    const text = linesOf(bodyOf(view)).join('\n');
    expect(text).toContain(
      '2 labelers not listed below were not observed for some or all of this interval, each for up to 30 hours in total: labels that they applied or removed then are unknown. The export lists them.',
    );
    expect(text).toContain('some labelers for 12 h');
    expect(text).not.toContain(known);
  });

  it('are omitted if a labeler filter is set, and the summary without a filter does not count labelers that have rows', async () => {
    const gaps = [late, ...down, gap(labelers[0], 20, 40, 'source_unavailable')];
    const { missed, timeline } = await viewWith({ roster, gaps }, { labeler: gone });
    expect([missed, timeline.partly]).toEqual([{ labelers: 0, longest: 0 }, []]);
    const all = await viewWith({ roster, gaps });
    expect(all.missed).toEqual({ labelers: 2, longest: 30 * hour });
    expect(all.timeline.partly[0]).toEqual({ start: noon, end: noon + 40 * hour });
  });

  it('appear in the timeline as at most 300 intervals, even if they have 500 gaps', async () => {
    const gaps = Array.from({ length: 500 }, (_, i) => gap(i % 2 ? known : gone, i / 4, i / 4 + 0.1, 'not_observed'));
    const { timeline, missed } = await viewWith({ roster, gaps });
    expect(timeline.partly).toHaveLength(300);
    expect([timeline.partly[0]?.start, timeline.partly.at(-1)?.end]).toEqual([gaps[0]?.start, gaps[499]?.end]);
    expect([missed.labelers, Math.round(missed.longest / minute)]).toEqual([2, 25 * 60]);
  });
});
