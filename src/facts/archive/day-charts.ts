import type { Bin, Hole } from '../../web/chart/series.ts';
import type { ArchiveChartName, ArchiveCharts, PageChart } from '../hours/hours-chart.ts';
import { oncePer } from '../resources.ts';
import { type ArchivedDay, type ArchivedDays, type ChartDay, chartDays, hourNumber, type Period } from './model.ts';

/** Number of days of the shorter and of the longer chart. */
export const chartLengths = { month: 30, year: 365 } as const;

const dayMs = 86_400_000;

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
  };
}

function dayBin(day: ChartDay, kind: DayChartKind): Bin {
  const isEvents = kind === 'events';
  const start = Date.parse(day.day);
  const value = isEvents ? day.eventsPerSecond : day.labelsPerHour;
  const isPartial = isEvents ? day.isWeatherPartial : day.isLabelsPartial;
  const share = isEvents ? day.weatherObserved : day.labelsObserved;
  // A share below one that rounding made one must not look whole.
  const observed = value === null ? 0 : isPartial ? Math.min(share, 0.99) : 1;
  const late = isEvents ? {} : { apart: day.lateLabels ?? null };
  return { start, end: start + dayMs, value, ...late, observed, reason: reasonOf(day, value, isPartial) };
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

/** Returns the days of a month (`YYYY-MM`) in the last twelve months, oldest first. */
export function monthDays(
  days: readonly ArchivedDay[],
  month: string,
  { now, areLabelsShown }: Pick<Period, 'now' | 'areLabelsShown'>,
): ChartDay[] {
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
    if (current?.days !== days || hourNumber(current.now) !== hourNumber(now)) current = { days, now };
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
