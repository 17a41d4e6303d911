import type { Micros } from '../../contract/timestamp.ts';
import type { AccountDay, AccountTally, DayCounts, EventCount, LabelerCount } from '../../store/counts.ts';
import { StoreError } from '../../store/errors.ts';
import { unobservedEnd } from '../../store/gaps.ts';
import type { Frontier, LabelerCoverage, StoredGap } from '../../store/port.ts';
import { day, dayOf, dayStart, type Interval, micros } from '../../store/time.ts';
import type { Language } from '../../web/language.ts';
import type { AccountStore, RowStore } from '../query/account-store.ts';
import { daysIn, overlap, union } from '../query/intervals.ts';
import { type AskedQuery, availableInterval, type ClippedInterval, storeFilter, windowDays } from '../query/query.ts';
import { type Definition, DefinitionCache } from './definitions.ts';
import {
  type HowRead,
  howRead,
  LabelerCache,
  type Labelers,
  type MissedSum,
  type NetworkView,
  networkView,
  nothingMissed,
  stretchesOf,
  sumOf,
  unreadOf,
} from './labelers.ts';
import { type Part, readParts } from './rows.ts';

/** Maximum number of labelers on an account's page. Labelers with more rows are listed first. */
const maxLabelersShown = 50;
/** Maximum number of rows counted for a page. Days beyond the limit are shown as not counted. */
const countedRows = 200_000;
/** Labeler name that matches no labeler. The gaps read for this name are only interruptions of the service. */
const serviceOnly = 'almanac';

/** A labeler with rows of the account, or the labeler of the filter. */
export interface LabelerView extends LabelerCount, HowRead {
  /** Gaps of the labeler in the interval, excluding interruptions of the service. */
  readonly gaps: readonly StoredGap[];
}

/** Data of an account's page. */
export interface AccountView {
  readonly query: AskedQuery;
  /** Time of the request, by which a silence is judged. */
  readonly askedAt: Micros;
  /** Time up to which data can be read: `askedAt`, or earlier on a standby. */
  readonly now: Micros;
  /** Requested interval, limited to the rolling window. */
  readonly shown: Interval;
  /** Part of the requested interval that is retained. */
  readonly interval: ClippedInterval;
  readonly frontier: Frontier;
  readonly startedAt: Micros;
  readonly tally: AccountTally;
  /**
   * Number of all rows of the account in the interval, before the filters are applied, or null if some were not
   * counted.
   */
  readonly rows: number | null;
  readonly timeline: Timeline;
  readonly parts: readonly Part[];
  readonly before: Micros | null;
  /** Definitions of the values on the page, by labeler and value. */
  readonly definitions: ReadonlyMap<string, ReadonlyMap<string, Definition>>;
  readonly labelers: readonly LabelerView[];
  readonly otherLabelers: number;
  /** Missed time of the labelers that are not listed; empty if a labeler filter is set. */
  readonly missed: MissedSum;
  /** Interruptions of the service, during which no labeler was observed. */
  readonly ownGaps: readonly StoredGap[];
  readonly network: NetworkView;
}

/** Query of a page and the time of the request. */
export interface ViewQuery {
  readonly query: AskedQuery;
  /** Position at which the list of one part continues, or null for the newest rows. */
  readonly before: Micros | null;
  readonly now: Micros;
  /** Preferred language of the labelers' definitions; English by default. */
  readonly language?: Language;
}

/**
 * Reads the data of a page. Resolves with `out_of_window` if no part of the interval is retained, and throws `busy` if
 * rows are removed during each of several attempts.
 */
type ViewReader = (store: RowStore, asked: ViewQuery) => Promise<AccountView | 'out_of_window'>;

/**
 * Creates a function that reads the data of a page. It caches the data about labelers. `monotonic` returns the time of a
 * monotonic clock in milliseconds.
 */
export function createViewReader(monotonic: () => number): ViewReader {
  const caches = { definitions: new DefinitionCache(monotonic), labelers: new LabelerCache(monotonic) };
  return (store, asked) => readConsistent(store, asked, caches);
}

/** Cached data that pages share. */
interface Caches {
  readonly definitions: DefinitionCache;
  readonly labelers: LabelerCache;
}

/** Maximum number of attempts to read a page while rows are removed. */
const maxAttempts = 3;

/** Reads a page again if rows were removed meanwhile, because its counts, gaps and rows are read one after the other. */
async function readConsistent(
  store: RowStore,
  asked: ViewQuery,
  caches: Caches,
): Promise<AccountView | 'out_of_window'> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const view = await readView(store, asked, caches);
    if (view === 'out_of_window') return view;
    const { generationId, revision } = await store.frontier();
    if (generationId === view.frontier.generationId && revision === view.frontier.revision) return view;
  }
  throw new StoreError('busy', `rows were removed during each of ${maxAttempts} attempts to read a page`);
}

async function readView(
  store: RowStore,
  { query, before, now: askedAt, language = 'en' }: ViewQuery,
  { definitions, labelers }: Caches,
): Promise<AccountView | 'out_of_window'> {
  const [frontier, { startedAt }] = await Promise.all([store.frontier(), store.epoch()]);
  const { now, window, interval } = availableInterval(frontier, query.asked, askedAt, before);
  if (interval === 'out_of_window') return interval;
  const { account, filters } = query;
  const { start, end } = interval;
  // Use the same end for the parts and the downloads of the page, to exclude rows that are accepted while the page is
  // built.
  const known = micros(Math.min(end, frontier.end));
  const [tally, network] = await Promise.all([tallyUntil(store, query, { interval, known }), labelers.all(store)]);
  const named = labelersShown(tally, filters.labeler);
  const alone = filters.labeler !== undefined;
  const [coverage, others, parts] = await Promise.all([
    store.coverage({ start, end, labelers: [serviceOnly, ...named.map(({ labeler }) => labeler)] }),
    alone ? nothingMissed : labelers.missed(store, window),
    readParts(store, { account, filters, before, start, end: known }, tally),
  ]);
  const shownRows = parts.flatMap(({ rows }) => rows);
  const labelsShown = shownRows.map(({ label }) => label);
  const gapsOf = new Map(coverage.map((one) => [one.labeler, one]));
  const hasRows = ({ labeler, applied, removed }: (typeof named)[number]): boolean =>
    applied + removed > 0 || shownRows.some(({ label }) => label.src === labeler);
  const views = named.map((count) => viewOf(count, hasRows(count), network, gapsOf.get(count.labeler)));
  const ownGaps = gapsOf.get(serviceOnly)?.gaps ?? [];
  const shown = shownInterval(query, interval, now);
  // Judge the silence by the clock: the time up to which a standby has received data stops together with the instrument.
  const unobserved = unobservedEnd(frontier, interval, askedAt);
  // Add the time for which a labeler was not read after it left: no gap is recorded for that time.
  const theirs = views.flatMap((one): Interval[] => [...one.gaps, ...unreadOf(one, interval)]);
  return {
    query,
    askedAt,
    now,
    shown,
    interval,
    frontier,
    startedAt,
    tally,
    rows: countedRowsOf(tally),
    timeline: timelineOf({
      ...shown,
      available: interval,
      tally,
      whole: [...ownGaps, ...(unobserved === null ? [] : [unobserved]), ...(alone ? theirs : [])],
      some: alone ? [] : stretchesOf([...others.any, ...theirs], interval),
    }),
    parts,
    before,
    definitions: await definitions.of(store, labelsShown, language),
    labelers: views,
    otherLabelers: tally.labelers.length - named.filter(({ applied, removed }) => applied + removed > 0).length,
    missed: sumOf(others, new Set(named.map(({ labeler }) => labeler)), interval),
    ownGaps,
    network: networkView(network, [...named.map(({ labeler }) => labeler), ...shownRows.map(({ label }) => label.src)]),
  };
}

/** Counts the rows of the interval before `known`, and adds empty days up to the end of the interval. */
async function tallyUntil(
  store: AccountStore,
  { account, filters }: AskedQuery,
  { interval, known }: { readonly interval: Interval; readonly known: Micros },
): Promise<AccountTally> {
  const { start, end } = interval;
  if (known <= start) return nothingUntil(interval);
  const filter = storeFilter(filters);
  return continuedTo(await store.tallyAccount({ account, start, end: known, filter, budget: countedRows }), end);
}

/** Returns the number of rows in a tally, or null if some days were not counted. */
function countedRowsOf({ days }: AccountTally): number | null {
  return days.reduce<number | null>((sum, { counts }) => (sum === null || !counts ? null : sum + counts.rows), 0);
}

/** Extends a tally with empty days up to `end`. */
function continuedTo(tally: AccountTally, end: Micros): AccountTally {
  const days = [...tally.days];
  const last = days.pop();
  if (!last) return tally;
  days.push({ ...last, end: micros(Math.min(end, dayStart(dayOf(last.start) + 1))) });
  return { ...tally, days: [...days, ...emptyDays({ start: micros(dayStart(dayOf(last.start) + 1)), end })] };
}

function nothingUntil(interval: Interval): AccountTally {
  return { days: emptyDays(interval), labelers: [], values: [], groups: [] };
}

function emptyDays(interval: Interval): AccountDay[] {
  const none = { applied: 0, removed: 0 };
  return daysIn(interval).map((part) => ({ ...part, counts: { rows: 0, account: none, post: none, record: none } }));
}

/**
 * Returns the labelers to be listed: those with the most rows, beginning with rows that match the filters, or only the
 * labeler of the filter.
 */
function labelersShown({ labelers, groups }: AccountTally, asked: string | undefined): LabelerCount[] {
  if (asked !== undefined) {
    return [labelers.find(({ labeler }) => labeler === asked) ?? { labeler: asked, applied: 0, removed: 0 }];
  }
  if (labelers.length <= maxLabelersShown) return [...labelers];
  const names = new Set([...groups, ...labelers].map(({ labeler }) => labeler));
  const chosen = new Set([...names].slice(0, maxLabelersShown));
  return labelers.filter(({ labeler }) => chosen.has(labeler));
}

function viewOf(
  count: LabelerCount,
  rows: boolean,
  network: Labelers,
  coverage: LabelerCoverage | undefined,
): LabelerView {
  return {
    ...count,
    ...howRead(count.labeler, rows, network),
    gaps: coverage?.gaps.filter(({ source }) => source !== null) ?? [],
  };
}

/** Returns the requested interval limited to the rolling window, including parts that are no longer retained. */
function shownInterval({ asked }: AskedQuery, interval: ClippedInterval, now: Micros): Interval {
  if (asked.kind === 'days') return { start: micros(now - asked.days * day), end: now };
  const oldest = now - windowDays * day;
  return { start: micros(Math.min(interval.start, Math.max(asked.start, oldest))), end: interval.end };
}

/** One UTC day of a timeline, for the chart and the table. */
export interface TimelineDay extends Interval {
  /**
   * Counted observations. Null if the rows were not counted, or if the day was not observed and has no observations.
   */
  readonly counts: EventCount | null;
  /** Time in microseconds for which none of the relevant labelers was observed. */
  readonly unseen: number;
  /** Further time in microseconds for which at least one of the relevant labelers was not observed. */
  readonly partly: number;
}

/** An account's interval, divided into days, with its unobserved time. */
export interface Timeline extends Interval {
  readonly days: readonly TimelineDay[];
  /** Intervals in which none of the relevant labelers was observed. */
  readonly unseen: readonly Interval[];
  /** Other intervals in which at least one of the relevant labelers was not observed. */
  readonly partly: readonly Interval[];
  /** Sum over all counted days. */
  readonly total: EventCount;
  /** Number of days whose rows were not counted. */
  readonly uncounted: number;
}

/** Data for computing a timeline. */
interface TimelineInputs extends Interval {
  /** Available part of the interval. Rows before it have been removed. */
  readonly available: Interval;
  readonly tally: AccountTally;
  /** Gaps in which none of the relevant labelers was observed. */
  readonly whole: readonly Interval[];
  /** Gaps in which at least one of the relevant labelers was not observed. */
  readonly some: readonly Interval[];
}

/**
 * Computes a timeline from counts and unobserved time. For a day that was not observed at all, the counts are null
 * instead of zero.
 */
export function timelineOf({ start, end, available, tally, whole, some }: TimelineInputs): Timeline {
  const unseen = union([...whole, { start, end: available.start }, { start: available.end, end }], { start, end });
  const partly = minus(union(some, { start, end }), unseen);
  const byDay = new Map(tally.days.map((found) => [dayOf(found.start), found.counts]));
  const days: TimelineDay[] = [];
  for (const part of daysIn({ start, end })) {
    const unseenOf = overlap(unseen, part);
    const counts = byDay.get(dayOf(part.start)) ?? null;
    const none =
      counts === null || (unseenOf === part.end - part.start && sum(counts).applied + sum(counts).removed === 0);
    days.push({ ...part, counts: none ? null : sum(counts), unseen: unseenOf, partly: overlap(partly, part) });
  }
  return {
    start,
    end,
    days,
    unseen,
    partly,
    total: days.reduce((total, { counts }) => (counts ? plus(total, counts) : total), nothing),
    uncounted: tally.days.filter(({ counts }) => counts === null).length,
  };
}

const nothing: EventCount = { applied: 0, removed: 0 };

/** Returns the sum of a day's counts over all target kinds. */
function sum({ account, post, record }: DayCounts): EventCount {
  return plus(plus(account, post), record);
}

function plus(a: EventCount, b: EventCount): EventCount {
  return { applied: a.applied + b.applied, removed: a.removed + b.removed };
}

/** Returns the parts of `intervals` that are not in `taken`. Both must be sorted and disjoint. */
function minus(intervals: readonly Interval[], taken: readonly Interval[]): Interval[] {
  return intervals.flatMap((interval) => {
    const left: Interval[] = [];
    let from = interval.start;
    for (const { start, end } of taken) {
      if (end <= from || start >= interval.end) continue;
      if (start > from) left.push({ start: from, end: start });
      from = micros(Math.max(from, end));
    }
    if (from < interval.end) left.push({ start: from, end: interval.end });
    return left;
  });
}
