import { countText, dateText, instantText, rateText } from '../../web/format.ts';
import { LinkedLines } from '../../web/linked-line.tsx';
import {
  type ArchivedDay,
  type ArchivedIssue,
  type ChartDay,
  chartDays,
  type HourGap,
  hourGaps,
  issuesIn,
  type Period,
} from './model.ts';
import { archiveHeading, noLabelsText } from './section-texts.ts';

/** Maximum number of listed gaps. */
const maxGaps = 20;

/** Content of a chart of daily rates. */
export interface RateChartProps {
  /** Relative URL of the service, for links from the days to their files; null for a chart without links. */
  readonly base: string | null;
  readonly days: readonly ChartDay[];
  /** Name of the period that the chart shows, such as `30 days`. */
  readonly what: string;
  /** False while the label overview is refused; the chart then has no label line. */
  readonly areLabelsShown: boolean;
}

/** Draws the daily rates of weather events and labels. */
export function RateChart({ base, days, what, areLabelsShown }: RateChartProps) {
  const labels = days.map(({ labelsPerHour, isLabelsPartial, lateLabels }) => {
    return { value: labelsPerHour, isPartial: isLabelsPartial, hasOthers: (lateLabels ?? 0) > 0 };
  });
  return (
    <figure class="rates">
      <LinkedLines
        summary={`Network events per second${areLabelsShown ? ' and labels per hour' : ''}, by day: ${what}. The lines break where nothing was observed.`}
        columns={
          base === null ? null : days.map((day) => ({ href: fileOf(base, day), title: titleOf(day, areLabelsShown) }))
        }
        lines={[
          {
            kind: 'weather',
            points: days.map(({ eventsPerSecond, isWeatherPartial }) => {
              return { value: eventsPerSecond, isPartial: isWeatherPartial };
            }),
          },
          ...(areLabelsShown ? [{ kind: 'labels' as const, points: labels }] : []),
        ]}
      />
      <figcaption>
        {areLabelsShown
          ? `Above, network events per second${scaleText(days.map((day) => day.eventsPerSecond))}; below, label applications and removals per hour${scaleText(days.map((day) => day.labelsPerHour))}; each by day, and only for the observed time.`
          : `Network events per second${scaleText(days.map((day) => day.eventsPerSecond))}, by day, only for the observed time.`}{' '}
        {periodText(days)}
        Marks below the lines show days that, according to the archive, were not fully observed.{' '}
        {areLabelsShown ? lateText(days) : ''}
      </figcaption>
    </figure>
  );
}

/** Describes the scale of a line, which begins at zero; empty if no value is known. */
function scaleText(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? '' : ` (from zero to ${rateText(Math.max(...known))})`;
}

/** Explains which labels are not part of the line, and on how many days they may be; empty if neither applies. */
function lateText(days: readonly ChartDay[]): string {
  const [late, unknown] = [days.filter(isLate).length, days.filter(({ lateLabels }) => lateLabels === null).length];
  const texts = [
    late > 0
      ? 'Marks above the lower line show days with labels that were read late, after an outage; these labels are counted but not part of the line.'
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

function titleOf(day: ChartDay, areLabelsShown: boolean): string {
  const texts = areLabelsShown ? [eventsText(day), labelsText(day)] : [eventsText(day)];
  // Shorten the units, because the page of a year contains 365 of these titles.
  const short = texts.join(', ').replace(' per second', '/s').replace(' per hour', '/h');
  return `${dayText(day.day)}: ${short}`;
}

/** Formats a day of the archive. */
export function dayText(day: string): string {
  return dateText(`${day}T00:00:00Z`);
}

/** Describes the event rate of a day. */
export function eventsText({ eventsPerSecond, isArchived }: ChartDay): string {
  if (eventsPerSecond === null) return isArchived ? 'weather not observed' : 'weather unknown';
  return `${rateText(eventsPerSecond)} events per second`;
}

/** Describes the label rate of a day, and the labels that are not part of it. */
export function labelsText({ labelsPerHour, isArchived, lateLabels }: ChartDay): string {
  const late = typeof lateLabels === 'number' ? `, ${countText(lateLabels)} read late` : '';
  if (labelsPerHour === null) return `${isArchived ? 'labels not observed' : 'labels unknown'}${late}`;
  return `${rateText(labelsPerHour)} labels per hour${late}`;
}

/** States why the chart shows no labels. */
export function LabelsRefused({ why }: { why: string }) {
  return <p data-refused="archived-labels">{noLabelsText(why)}</p>;
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
    ...{ newest, days: chartDays(days, period), areLabelsShown: period.areLabelsShown },
    gaps: { newest: gaps.slice(0, 5), count: gaps.length },
    issues: issuesIn(issues, period).all.length,
  };
}

/**
 * Shows the last month of the archive. `refusal` is the reason why the label overview is refused, or null. The chart
 * has no links to the values and files of the days, because thirty links would make up a tenth of the observatory page.
 * The archive page has these links.
 */
export function RecentSection({ recent, refusal }: { recent: RecentArchive; refusal: string | null }) {
  const { days, gaps, areLabelsShown, newest, issues } = recent;
  const more = gaps.count - gaps.newest.length;
  return (
    <section aria-labelledby="archive">
      <h2 id="archive">{archiveHeading}</h2>
      {refusal === null ? null : <LabelsRefused why={refusal} />}
      <RateChart base={null} days={days} what="30 days" areLabelsShown={areLabelsShown} />
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
    </section>
  );
}
