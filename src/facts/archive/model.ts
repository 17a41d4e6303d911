import { minRateSeconds } from '../../contract/limits.ts';
import type { Bin, Hole } from '../../web/chart/series.ts';
import type { ArchiveChartName, ArchiveCharts, PageChart } from '../hours/chart-figure.tsx';
import { oncePer } from '../resources.ts';

/** Sums of one day's events or labels. */
interface ArchivedSums {
  /** Number of events or labels; null if nothing was observed. */
  readonly count: number | null;
  /** Observed time of the hours that have a count, in seconds. */
  readonly observedSeconds: number;
  /** Hours of the day (0 to 23) that have a count and were observed entirely. */
  readonly wholeHours: readonly number[];
  /** Hours that have a count and of which more than five minutes were not observed; absent if there are none. */
  readonly partHours?: readonly number[];
  /**
   * Labels that were read late, and the rate in labels per second without them. Absent if not stated apart, and for
   * weather.
   */
  readonly late?: { readonly count: number; readonly rate: number | null };
}

/** One day of the archive. */
export interface ArchivedDay {
  /** Day in the form `YYYY-MM-DD`. */
  readonly day: string;
  readonly isClosed: boolean;
  /** True for a day that has only the tables of the first edition, which have other names. */
  readonly hasFirstTables: boolean;
  /** Sums of the weather events; null if the archive has no readable table of the day. */
  readonly weather: ArchivedSums | null;
  /** Sums of the label applications and removals; null if the archive has no readable table of the day. */
  readonly labels: ArchivedSums | null;
}

/** A known issue: published values that are wrong or incomplete, in the words of the operator. */
export interface ArchivedIssue {
  readonly id: string;
  readonly source: string;
  readonly start: string;
  /** End of the affected period, exclusive; null while the problem persists. */
  readonly end: string | null;
  readonly summary: string;
}

/** Source of the days on the archive page. */
export interface ArchivedDays {
  /**
   * Returns the newest days, oldest first; null while the archive does not exist or is not read yet. The list is the
   * same object until the archive or its known issues change.
   */
  days(): readonly ArchivedDay[] | null;
  issues(): readonly ArchivedIssue[];
}

/** A column of a chart: one day with its rates. */
export interface ChartDay {
  readonly day: string;
  /** False for a day without a directory in the archive. */
  readonly isArchived: boolean;
  readonly isClosed: boolean;
  readonly hasFirstTables: boolean;
  /** Events per observed second; null if nothing was observed, or too little for a rate. */
  readonly eventsPerSecond: number | null;
  /** True if events were observed, but for too little time for a rate; absent otherwise. */
  readonly isBrief?: true;
  readonly isWeatherPartial: boolean;
  /** Observed share (0 to 1) of the part of the day that has passed. */
  readonly weatherObserved: number;
  /** Label applications and removals per observed hour, without labels that were read late; null if not observed. */
  readonly labelsPerHour: number | null;
  /**
   * Labels that were read late and are not part of `labelsPerHour`; absent if there are none. Null if the archive does
   * not state them apart, so that the rate may contain them.
   */
  readonly lateLabels?: number | null;
  /** True if labels were counted, but no hour has a rate; absent otherwise. */
  readonly areLabelsUnrated?: true;
  readonly isLabelsPartial: boolean;
  /** Observed share (0 to 1) of the part of the day that has passed. */
  readonly labelsObserved: number;
}

/** Period that a chart shows; it ends with the current day. */
export interface Period {
  readonly count: number;
  /** Time that is shown, in milliseconds since 1970; for pages and files, the start of the current hour. */
  readonly now: number;
  /** False while the label overview is refused; the period then has no label values. */
  readonly areLabelsShown: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Time after the end of an hour by which the archiver should have written it, in milliseconds. */
const dueAfterMs = 2 * hourMs;

/**
 * Returns the start of the hour of `now`, both in milliseconds since 1970. All charts, tables and files of the archive
 * show its state at this time: they are rendered once per hour, and at different moments of it.
 */
export function hourStart(now: number): number {
  return Math.floor(now / hourMs) * hourMs;
}

/** Returns the days of a chart that ends with the current day. Days that the archive lacks have no values. */
export function chartDays(days: readonly ArchivedDay[], period: Period): ChartDay[] {
  const known = new Map(days.map((day) => [day.day, day]));
  return dayNames(period).map((name) => chartDay(name, known.get(name), period));
}

function dayNames({ count, now }: Period): string[] {
  return Array.from({ length: count }, (_, at) => new Date(now - (count - 1 - at) * dayMs).toISOString().slice(0, 10));
}

function chartDay(day: string, archived: ArchivedDay | undefined, { now, areLabelsShown }: Period): ChartDay {
  const { weather = null, labels = null, isClosed = false, hasFirstTables = false } = archived ?? {};
  const perHour = areLabelsShown ? rate(labels) : null;
  return {
    ...{ day, isArchived: archived !== undefined, isClosed, hasFirstTables },
    eventsPerSecond: rounded(isBrief(weather) ? null : rate(weather)),
    ...(isBrief(weather) && { isBrief: true }),
    isWeatherPartial: gapHours(day, weather, now).length > 0,
    weatherObserved: observedShare(day, weather, now),
    labelsPerHour: perHour === null ? null : rounded(perHour * 3600),
    ...(perHour !== null && labels?.late === undefined && { lateLabels: null }),
    ...(areLabelsShown && labels?.late !== undefined && labels.late.count > 0 && { lateLabels: labels.late.count }),
    ...(areLabelsShown && perHour === null && (labels?.observedSeconds ?? 0) > 0 && { areLabelsUnrated: true }),
    isLabelsPartial: areLabelsShown && gapHours(day, labels, now).length > 0,
    labelsObserved: areLabelsShown ? observedShare(day, labels, now) : 0,
  };
}

function observedShare(day: string, sums: ArchivedSums | null, now: number): number {
  const passedMs = Math.min(dayMs, now - Date.parse(day));
  const share = passedMs <= 0 ? 0 : ((sums?.observedSeconds ?? 0) * 1000) / passedMs;
  return Math.min(1, Number(share.toFixed(4)));
}

function rate(sums: ArchivedSums | null): number | null {
  if (sums?.late !== undefined) return sums.late.rate;
  return sums === null || sums.count === null || sums.observedSeconds === 0 ? null : sums.count / sums.observedSeconds;
}

/** Returns true if events were observed, but for too little time for a rate. */
function isBrief(weather: ArchivedSums | null): boolean {
  return weather !== null && weather.observedSeconds > 0 && weather.observedSeconds < minRateSeconds;
}

/** Rounds a rate to five significant digits, because the observatory page embeds the rates of its charts. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(5));
}

/**
 * Returns the start of each hour that is due in the archive but not reported there as fully observed, or is reported there
 * as observed in part.
 */
function gapHours(day: string, sums: ArchivedSums | null, now: number): number[] {
  // Most days of a year are whole.
  if (sums?.wholeHours.length === 24) return [];
  const [whole, part] = [new Set(sums?.wholeHours), new Set(sums?.partHours)];
  const midnight = Date.parse(day);
  const gaps: number[] = [];
  for (let hour = 0; hour < 24; hour += 1) {
    const start = midnight + hour * hourMs;
    const dueAt = start + hourMs + (part.has(hour) ? 0 : dueAfterMs);
    if (dueAt <= now && !whole.has(hour)) gaps.push(start);
  }
  return gaps;
}

/** Known issues that affect a period. */
export interface IssuesByDay {
  /** All issues that affect the period, newest first. */
  readonly all: readonly ArchivedIssue[];
  /** Returns the issues that affect a day, newest first. */
  on(day: string): ArchivedIssue[];
}

/** Returns the issues that affect a period. Their times are parsed only once, because the list may be long. */
export function issuesIn(issues: readonly ArchivedIssue[], { count, now }: Period): IssuesByDay {
  const spans = issues
    .map((issue) => ({
      issue,
      start: Date.parse(issue.start),
      end: issue.end === null ? Number.POSITIVE_INFINITY : Date.parse(issue.end),
    }))
    .sort((a, b) => b.start - a.start);
  const last = Math.floor(now / dayMs) * dayMs + dayMs;
  const within = (from: number, to: number): ArchivedIssue[] =>
    spans.filter(({ start, end }) => start < to && end > from).map(({ issue }) => issue);
  return {
    all: within(last - count * dayMs, last),
    on: (day) => within(Date.parse(day), Date.parse(day) + dayMs),
  };
}

/** An interval of whole hours, none of which was observed entirely. */
export interface HourGap {
  readonly instrument: 'weather' | 'labels';
  readonly start: string;
  readonly end: string;
}

/**
 * Returns the gaps of a period, newest first and joined across midnight. If the directory or table of a day is missing,
 * all of its hours are gaps.
 */
export function hourGaps(days: readonly ArchivedDay[], period: Period): HourGap[] {
  const known = new Map(days.map((day) => [day.day, day]));
  const instruments = period.areLabelsShown ? (['weather', 'labels'] as const) : (['weather'] as const);
  return instruments
    .flatMap((instrument) => {
      const joined: { start: number; end: number }[] = [];
      for (const name of dayNames(period)) {
        for (const start of gapHours(name, known.get(name)?.[instrument] ?? null, period.now)) {
          const last = joined.at(-1);
          if (last?.end === start) last.end = start + hourMs;
          else joined.push({ start, end: start + hourMs });
        }
      }
      return joined.map(({ start, end }) => ({ instrument, start: instant(start), end: instant(end) }));
    })
    .sort((a, b) => (a.start < b.start ? 1 : a.start > b.start ? -1 : 0));
}

function instant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Number of days of the shorter and of the longer chart. */
export const chartLengths = { month: 30, year: 365 } as const;

/** Names of the two charts of a list of days. */
export type DayChartKind = 'events' | 'labels';

/** Creates the chart of a daily rate from consecutive days. `now` is in milliseconds since 1970. */
export function dayChart(
  days: readonly ChartDay[],
  kind: DayChartKind,
  { id, now }: { readonly id: string; readonly now: number },
): PageChart {
  const bins = days.map((day) => dayBin(day, kind));
  const isEvents = kind === 'events';
  return {
    series: {
      ...{ id: `${id}-${kind}`, shape: 'line', paint: isEvents ? 'weather' : 'labels', bins, through: now },
      holes: holesOf(bins, now),
    },
    title: isEvents ? 'Network events per second, by day' : 'Labels applied and removed per hour, by day',
    unit: isEvents ? 'events per second' : 'labels per hour',
    answer: '',
    columns: isEvents ? { value: 'Events per second' } : { value: 'Labels per hour', apart: 'Labels read late' },
    ...(isEvents ? {} : { isOfAllLabelers: true }),
  };
}

function dayBin(day: ChartDay, kind: DayChartKind): Bin {
  const isEvents = kind === 'events';
  const start = Date.parse(day.day);
  const value = isEvents ? day.eventsPerSecond : day.labelsPerHour;
  const isPartial = isEvents ? day.isWeatherPartial : day.isLabelsPartial;
  const share = isEvents ? day.weatherObserved : day.labelsObserved;
  const observed = value === null ? 0 : isPartial ? partShare(share) : 1;
  const late = isEvents ? {} : { apart: day.lateLabels ?? null };
  const reason = unratedReason(day, isEvents) ?? reasonOf(day, value, isPartial);
  return { start, end: start + dayMs, value, ...late, observed, reason };
}

/** Returns the observed share of a day that was not observed entirely, even if rounding made it one. */
export function partShare(share: number): number {
  return Math.min(share, 0.99);
}

/** States for a day without a rate why it has none, that it was not observed, or that it is unknown. */
export function unratedText(day: ChartDay, kind: 'weather' | 'labels'): string {
  return day.isArchived ? `${kind} ${unratedReason(day, kind === 'weather') ?? 'not observed'}` : `${kind} unknown`;
}

/** Returns why an observed day has no rate, or null. Labels may have been read all day, but late. */
function unratedReason({ isBrief, areLabelsUnrated }: ChartDay, isWeather: boolean): string | null {
  if (isWeather) return isBrief === true ? 'hardly observed' : null;
  return areLabelsUnrated === true ? 'without an hour with a rate' : null;
}

function reasonOf({ isArchived }: ChartDay, value: number | null, isPartial: boolean): string | null {
  if (value === null) return isArchived ? 'not observed' : 'not in the archive';
  return isPartial ? 'some hours not observed' : null;
}

/** Returns the days without a value as holes. Adjoining days with the same reason are one hole. */
function holesOf(bins: readonly Bin[], now: number): Hole[] {
  const holes: { start: number; end: number; reason: string }[] = [];
  for (const { start, end, value, reason } of bins) {
    if (value !== null || reason === null) continue;
    const last = holes.at(-1);
    const until = Math.min(end, Math.max(start, now));
    if (last?.end === start && last.reason === reason) last.end = until;
    else holes.push({ start, end: until, reason });
  }
  return holes.filter(({ start, end }) => end > start);
}

/** Returns true for a text in the form of a month (`YYYY-MM`). */
export function isMonth(text: string): boolean {
  return /^\d{4}-\d\d$/.test(text);
}

/** Returns the days of a month (`YYYY-MM`) in the last twelve months, oldest first; none for a text of another form. */
export function monthDays(
  days: readonly ArchivedDay[],
  month: string,
  { now, areLabelsShown }: Pick<Period, 'now' | 'areLabelsShown'>,
): ChartDay[] {
  if (!isMonth(month)) return [];
  const year = chartDays(days, { count: chartLengths.year, now, areLabelsShown });
  return year.filter(({ day }) => day.startsWith(`${month}-`));
}

/** Creates a function that returns the charts of the archive as files; null while there is no archive. */
export function archiveCharts(archive: ArchivedDays | null): (now: number) => ArchiveCharts | null {
  const made = oncePer(
    (at: { readonly days: readonly ArchivedDay[]; readonly now: number }): ArchiveCharts => ({
      mark: at,
      of: (name) => namedChart(name, at),
      ofMonth: (month, kind) => monthChart(month, kind, at),
    }),
  );
  let current: { readonly days: readonly ArchivedDay[]; readonly now: number } | undefined;
  return (now) => {
    const days = archive?.days() ?? null;
    if (days === null) return null;
    const hour = hourStart(now);
    if (current?.days !== days || current.now !== hour) current = { days, now: hour };
    return made(current);
  };
}

function namedChart(
  name: ArchiveChartName,
  { days, now }: { readonly days: readonly ArchivedDay[]; readonly now: number },
): PageChart {
  const [length, kind] = name.split('-') as ['month' | 'year', DayChartKind];
  const period: Period = { count: chartLengths[length], now, areLabelsShown: kind === 'labels' };
  return dayChart(chartDays(days, period), kind, { id: length, now });
}

function monthChart(
  month: string,
  kind: DayChartKind,
  { days, now }: { readonly days: readonly ArchivedDay[]; readonly now: number },
): PageChart | null {
  const own = monthDays(days, month, { now, areLabelsShown: kind === 'labels' });
  return own.length === 0 ? null : dayChart(own, kind, { id: 'month', now });
}
