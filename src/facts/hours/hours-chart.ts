import type { Bin, TimeSeries } from '../../web/chart/series.ts';
import { agreeing, countText, instantText, percentText, rateText } from '../../web/format.ts';

/**
 * A chart of a page, with the texts that its picture, its table and its files share. The table and the files are made
 * from `series`, so they contain exactly what is drawn.
 */
export interface PageChart {
  readonly series: TimeSeries;
  readonly title: string;
  /** Unit of the value axis. */
  readonly unit: string;
  /** Answer to the question for which readers open the chart; the text alternative of the picture begins with it. */
  readonly answer: string;
  /** Names of the columns; absent for a column that the chart does not have. */
  readonly columns: {
    readonly value: string;
    readonly below?: string;
    readonly apart?: string;
    readonly usual?: string;
  };
}

/** Charts of the archive by name, or null if there is none. They change with `mark`. */
export interface ArchiveCharts {
  readonly mark: object;
  of(name: ArchiveChartName): PageChart;
}

/** Names of the charts that are made from the archive. */
export const archiveChartNames = ['month-events', 'month-labels', 'year-events', 'year-labels'] as const;
export type ArchiveChartName = (typeof archiveChartNames)[number];

/** Formats a value of a chart: a rate of a line chart, a count of a bar chart. */
export function valueText({ shape }: Pick<TimeSeries, 'shape'>, value: number): string {
  return shape === 'line' ? rateText(value) : countText(value);
}

/** Describes the picture in words: its answer, its period, its extremes and its holes. */
export function summaryOf({ series, title, answer, columns }: PageChart): string {
  const { bins } = series;
  const first = bins[0];
  if (!first) return `${title}. There are no values yet.`;
  const until = new Date(Math.min(series.through, bins.at(-1)?.end ?? series.through)).toISOString();
  return [
    `${title}, ${instantText(new Date(first.start).toISOString())} to ${instantText(until)}.`,
    ...(answer === '' ? [] : [answer]),
    extremes(series, columns.value, ({ value }) => value),
    ...(columns.below === undefined ? [] : [extremes(series, columns.below, ({ below }) => below ?? null)]),
    holesText(series),
  ].join(' ');
}

function extremes(series: TimeSeries, name: string, pick: (bin: Bin) => number | null): string {
  const known = series.bins.flatMap((bin) => pick(bin) ?? []);
  if (known.length === 0) return `${name}: no value is known.`;
  return `${name}: ${valueText(series, Math.min(...known))} to ${valueText(series, Math.max(...known))}.`;
}

function holesText({ bins, through }: TimeSeries): string {
  const past = bins.filter(({ start }) => start < through);
  const unseen = past.filter(({ observed }) => observed <= 0).length;
  const part = past.filter(({ observed }) => observed > 0 && observed < 1).length;
  const period = (bins[0]?.end ?? 0) - (bins[0]?.start ?? 0) > 3_600_000 ? ['day', 'days'] : ['hour', 'hours'];
  const counted = (n: number): string => `${countText(n)} ${agreeing(n, period[0] ?? '', period[1] ?? '')}`;
  if (unseen + part === 0) return `Every ${period[0]} was observed entirely.`;
  return `${counted(unseen)} not observed, ${counted(part)} observed in part; the line or the bars break there.`;
}

/**
 * Describes how much of an hour or day was observed and why not all of it; empty if all of it was, because most are. An
 * hour that has not ended is described as such.
 */
export function observedText({ end, observed, reason }: Bin, through: number): string {
  const share = observed >= 1 ? '' : observed <= 0 ? 'nothing' : percentText(observed);
  const text = reason === null ? share : `${share}: ${reason}`;
  return end > through ? `${text === '' ? 'all' : text}, so far` : text;
}

/** Formats a chart as CSV (RFC 4180): one line per hour or day, with the exact values and an empty field for unknown ones. */
export function chartCsv({ series, columns }: PageChart): string {
  const name = (text: string): string => text.toLowerCase().replaceAll(' ', '_');
  const head = [
    ...['start', 'end', name(columns.value)],
    ...(columns.below === undefined ? [] : [name(columns.below)]),
    ...(columns.apart === undefined ? [] : [name(columns.apart)]),
    ...(columns.usual === undefined ? [] : ['usual_low', 'usual_high']),
    ...['observed_share', 'reason'],
  ];
  const lines = series.bins.map((bin) => [
    ...[new Date(bin.start).toISOString(), new Date(bin.end).toISOString(), bin.value],
    ...(columns.below === undefined ? [] : [bin.below]),
    ...(columns.apart === undefined ? [] : [bin.apart]),
    ...(columns.usual === undefined ? [] : [bin.usual?.low, bin.usual?.high]),
    ...[bin.start >= series.through ? null : bin.observed, bin.reason],
  ]);
  return [head, ...lines].map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

function csvField(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Headings of the sections about the last 72 hours. The page's script needs them without the charts. */
export const hoursHeadings = {
  weather: 'Events, hour by hour',
  labels: 'Labels, hour by hour',
} as const;

/** Returns the path of a chart's files without their suffix. */
export function chartFile(name: string): string {
  return `/charts/${name}`;
}
