import { percent } from '../../web/bar.tsx';
import type { Bin, Hole } from '../../web/chart/series.ts';
import { renderFragment } from '../../web/document.tsx';
import { countText, dateText, instantText, rateText } from '../../web/format.ts';
import {
  type ArchiveChartName,
  type ArchiveCharts,
  ChartFigure,
  chartFile,
  type PageChart,
} from '../hours/chart-figure.tsx';
import { oncePer } from '../resources.ts';
import {
  type ArchivedDay,
  type ArchivedDays,
  type ArchivedIssue,
  type ChartDay,
  chartDays,
  type HourGap,
  hourGaps,
  hourStart,
  issuesIn,
  type Period,
} from './model.ts';

/** Maximum number of listed gaps. */
const maxGaps = 20;

/** Content of the charts of daily rates. */
interface RateChartProps {
  /** Relative URL of the service. */
  readonly base: string;
  readonly days: readonly ChartDay[];
  /** The period that the charts show; part of the names of their files. */
  readonly length: keyof typeof chartLengths;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Relative URL of the charts' files up to their names; by default, that of the charts of `length`. */
  readonly files?: string;
  /** Relative URL of the same data as a table. */
  readonly tableAt: string;
  /** Links that cover the charts. */
  readonly links?: 'days' | 'months';
  /** False while the label overview is refused; there is then no chart of labels. */
  readonly areLabelsShown: boolean;
}

/** Draws the daily rates of weather events and labels, one below the other, each with its own axis. */
export function RateChart({ base, days, length, now, files, tableAt, links, areLabelsShown }: RateChartProps) {
  const kinds: readonly DayChartKind[] = areLabelsShown ? ['events', 'labels'] : ['events'];
  return (
    <ChartFigure
      charts={kinds.map((kind) => dayChart(days, kind, { id: length, now }))}
      fileOf={({ series: { id } }) =>
        files === undefined ? `${base}${chartFile(id)}` : `${files}${id.replace(/.*-/, '')}`
      }
      tableAt={tableAt}
      over={
        links === 'days' ? (
          <DayLinks {...{ base, days, areLabelsShown }} />
        ) : (
          links && <MonthLinks {...{ base, days }} />
        )
      }
    >
      <p>
        {areLabelsShown
          ? 'Above, network events per second; below, label applications and removals per hour; each with its own axis, by day.'
          : 'Network events per second, by day.'}{' '}
        {periodText(days)}
        The lines break at days that were not observed; the strips show the observed share of each day, according to the
        archive. {areLabelsShown ? lateText(days) : ''}
      </p>
    </ChartFigure>
  );
}

/**
 * Links every day to its files: a row of equal boxes over the charts, which need fewer bytes than shapes in the drawings.
 * Keyboards reach the days through the table below the charts.
 */
function DayLinks({ base, days, areLabelsShown }: Pick<RateChartProps, 'base' | 'days' | 'areLabelsShown'>) {
  return (
    <div class="over">
      {days.map((day) => (
        // biome-ignore lint/a11y/useAnchorContent: the label is the accessible name of the link, and its tooltip
        <a key={day.day} href={fileOf(base, day)} aria-label={titleOf(day, areLabelsShown)} tabIndex={-1} />
      ))}
    </div>
  );
}

/** Path of the pages with the days of a month. */
export const monthPath = '/months/';

/** Returns the months of consecutive days, oldest first, in the form `YYYY-MM`. */
function monthsOf(days: readonly ChartDay[]): string[] {
  return [...new Set(days.map(({ day }) => day.slice(0, 7)))];
}

/** Links every month to the page of its days. Keyboards reach the months through the list below the charts. */
function MonthLinks({ base, days }: Pick<RateChartProps, 'base' | 'days'>) {
  const share = (count: number): string => percent((100 * count) / days.length);
  return (
    <svg class="over" aria-hidden="true">
      {monthsOf(days).map((month) => {
        const first = days.findIndex(({ day }) => day.startsWith(month));
        const count = days.filter(({ day }) => day.startsWith(month)).length;
        return (
          <a key={month} href={`${base}${monthPath}${month}`} tabIndex={-1}>
            <rect class="chart-touch" x={share(first)} width={share(count)} />
          </a>
        );
      })}
    </svg>
  );
}

/** Lists the months of consecutive days, newest first, as links to the pages of their days. */
export function MonthList({ base, days }: Pick<RateChartProps, 'base' | 'days'>) {
  return (
    <p id="months" class="months">
      Every day of a month as charts, as a table and as files:{' '}
      {monthsOf(days)
        .toReversed()
        .map((month) => (
          <a key={month} href={`${base}${monthPath}${month}`}>
            {monthText(month)}
          </a>
        ))}
    </p>
  );
}

/** Formats a month: `Nov 2026`. */
export function monthText(month: string): string {
  return dayText(`${month}-01`).replace(/^\S+ /, '');
}

/** Explains which labels are not part of the line, and on how many days they may be; empty if neither applies. */
function lateText(days: readonly ChartDay[]): string {
  const [late, unknown] = [days.filter(isLate).length, days.filter(({ lateLabels }) => lateLabels === null).length];
  const texts = [
    late > 0
      ? 'Marks at the top of the lower chart show days with labels that were read late, after an outage; these labels are counted but not part of the line.'
      : '',
    unknown > 0
      ? `The archive does not state late labels apart for ${unknown === 1 ? 'one day' : `${countText(unknown)} days`}, whose value may contain them.`
      : '',
  ];
  return texts.filter((text) => text !== '').join(' ');
}

function isLate({ lateLabels }: ChartDay): boolean {
  return (lateLabels ?? 0) > 0;
}

function periodText(days: readonly ChartDay[]): string {
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return '';
  return `The chart covers ${dayText(first.day)} to ${dayText(last.day)}. `;
}

function fileOf(base: string, { day, isArchived }: ChartDay): string {
  return isArchived ? `${base}/archive/days/${day}/day.json` : `${base}/archive/index.json`;
}

/** Describes a day. */
function titleOf({ day, eventsPerSecond, labelsPerHour }: ChartDay, areLabelsShown: boolean): string {
  const brief = (value: number | null, unit: string): string =>
    value === null ? `${unit} unknown` : `${rateText(value)} ${unit}`;
  return [
    dayText(day),
    brief(eventsPerSecond, 'events per second'),
    ...(areLabelsShown ? [brief(labelsPerHour, 'labels per hour')] : []),
  ].join(', ');
}

/** Formats a day of the archive. */
export function dayText(day: string): string {
  return dateText(`${day}T00:00:00Z`);
}

/** States why the chart shows no labels. */
export function LabelsRefused({ why }: { why: string }) {
  return <p data-refused="archived-labels">The chart shows no labels. {why}</p>;
}

/** Lists the newest gaps as text; without gaps, states that every hour was observed. */
export function GapList({ gaps, areLabelsShown }: { gaps: readonly HourGap[]; areLabelsShown: boolean }) {
  if (gaps.length === 0) {
    return <p>Every hour of these days was observed entirely{areLabelsShown ? '' : ' by the weather instrument'}.</p>;
  }
  const more = gaps.length - maxGaps;
  return (
    <>
      <p>Hours that, according to the archive, were not fully observed, newest first:</p>
      <ul class="archive-gaps">
        {gaps.slice(0, maxGaps).map(({ instrument, start, end }) => (
          <li key={`${instrument} ${start}`}>
            {instrument}, {instantText(start)} to {instantText(end)}
          </li>
        ))}
        {more > 0 ? <li>and {countText(more)} more, in the gap manifests of the days</li> : null}
      </ul>
    </>
  );
}

/** The last month of the archive, as the observatory page shows it. */
export interface RecentArchive {
  /** Newest day of the archive. It can precede all days of the month shown. */
  readonly newest: string;
  /** Time of the data, in milliseconds since 1970. */
  readonly now: number;
  /** Consecutive days. */
  readonly days: readonly ChartDay[];
  /** The newest gaps, and the number of all gaps. */
  readonly gaps: { readonly newest: readonly HourGap[]; readonly count: number };
  /** Number of known issues that affect these days. */
  readonly issues: number;
  /** False if the label overview was refused when the data was read; the data then contains no labels. */
  readonly areLabelsShown: boolean;
}

/** Number of days that the observatory page shows. */
export const recentDays = 30;

/** Returns the archive data for a period; null if there is no archive or it has no days. */
export function recentArchive(
  days: readonly ArchivedDay[] | null,
  period: Period,
  issues: readonly ArchivedIssue[] = [],
): RecentArchive | null {
  const newest = days?.at(-1)?.day;
  if (days === null || newest === undefined) return null;
  const gaps = hourGaps(days, period);
  return {
    ...{ newest, now: period.now, days: chartDays(days, period), areLabelsShown: period.areLabelsShown },
    gaps: { newest: gaps.slice(0, 5), count: gaps.length },
    issues: issuesIn(issues, period).all.length,
  };
}

/**
 * Shows the last month of the archive, as the content of a `section` element. `refusal` is the reason why the label overview is refused, or null. The chart
 * has no links to the values and files of the days, because thirty links would make up a tenth of the observatory page.
 * The archive page has these links.
 */
function RecentContent({ recent, refusal }: { recent: RecentArchive; refusal: string | null }) {
  const { days, gaps, areLabelsShown, newest, issues, now } = recent;
  const more = gaps.count - gaps.newest.length;
  return (
    <>
      <h2 id="archive">The last 30 days</h2>
      {refusal === null ? null : <LabelsRefused why={refusal} />}
      <RateChart base="." length="month" tableAt="./archive#days" {...{ days, now, areLabelsShown }} />
      <GapList gaps={gaps.newest} areLabelsShown={areLabelsShown} />
      {issues > 0 ? (
        <p>
          See the{' '}
          <a href="./archive#issues">
            {countText(issues)} known {issues === 1 ? 'issue' : 'issues'}
          </a>{' '}
          {issues === 1 ? 'that affects' : 'that affect'} these days.
        </p>
      ) : null}
      <p>
        {more > 0 ? `There are ${countText(more)} more gaps. ` : ''}
        The newest day in the archive is {dayText(newest)}. <a href="./archive">The archive</a> has the files of every
        day.
      </p>
    </>
  );
}

/** Returns the content of the section about the last month of the archive as HTML. */
export function recentHtml(recent: RecentArchive, refusal: string | null): string {
  return renderFragment(<RecentContent recent={recent} refusal={refusal} />);
}

/** Number of days of the shorter and of the longer chart. */
export const chartLengths = { month: 30, year: 365 } as const;

const dayMs = 86_400_000;

/** Names of the two charts of a list of days. */
type DayChartKind = 'events' | 'labels';

/** Creates the chart of a daily rate from consecutive days. `now` is in milliseconds since 1970. */
function dayChart(
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
  const observed = value === null ? 0 : isPartial ? partShare(share) : 1;
  const late = isEvents ? {} : { apart: day.lateLabels ?? null };
  return { start, end: start + dayMs, value, ...late, observed, reason: reasonOf(day, value, isPartial) };
}

/** Returns the observed share of a day that was not observed entirely, even if rounding made it one. */
export function partShare(share: number): number {
  return Math.min(share, 0.99);
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
