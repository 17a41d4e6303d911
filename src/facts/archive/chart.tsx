import { countText, dateText, instantText, rateText } from '../../web/format.ts';
import { LinkedLines } from '../../web/linked-line.tsx';
import { embeddedArchive, type NewestGaps, type RecentArchive } from './embedded.ts';
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

/** Maximum number of listed gaps. */
const maxGaps = 20;

/** Content of a chart of daily rates. */
export interface RateChartProps {
  /** Relative URL of the service. */
  readonly base: string;
  readonly days: readonly ChartDay[];
  /** Name of the period that the chart shows, such as `30 days`. */
  readonly what: string;
  /** False while the label overview is refused; the chart then has no label line. */
  readonly areLabelsShown: boolean;
}

/** Draws the daily rates of weather events and labels. */
export function RateChart({ base, days, what, areLabelsShown }: RateChartProps) {
  const labels = days.map(({ labelsPerHour, isLabelsPartial }) => {
    return { value: labelsPerHour, isPartial: isLabelsPartial };
  });
  return (
    <figure class="rates">
      <LinkedLines
        summary={`Network events per second${areLabelsShown ? ' and labels per hour' : ''}, by day: ${what}. The lines break where nothing was observed.`}
        columns={days.map((day) => ({ href: fileOf(base, day), title: titleOf(day, areLabelsShown) }))}
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
        Marks below the lines show days that, according to the archive, were not fully observed.
      </figcaption>
    </figure>
  );
}

/** Describes the scale of a line, which begins at zero; empty if no value is known. */
function scaleText(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? '' : ` (from zero to ${rateText(Math.max(...known))})`;
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
  // Shorten the units, because the page of a year contains 365 of these texts.
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

/** Describes the label rate of a day. */
export function labelsText({ labelsPerHour, isArchived }: ChartDay): string {
  if (labelsPerHour === null) return isArchived ? 'labels not observed' : 'labels unknown';
  return `${rateText(labelsPerHour)} labels per hour`;
}

/** States why the chart shows no labels. */
export function LabelsRefused({ why }: { why: string }) {
  return <p data-refused="archived-labels">The chart shows no labels. {why}</p>;
}

/** Lists the newest gaps as text. */
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

/** Number of days that the observatory page shows. */
export const recentDays = 30;

/** Returns the archive data for a period; null if the archive has no days. */
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
    gaps: newestOf(gaps),
    weatherGaps: newestOf(gaps.filter(({ instrument }) => instrument === 'weather')),
    issues: issuesIn(issues, period).all.length,
  };
}

function newestOf(gaps: readonly HourGap[]): NewestGaps {
  return { newest: gaps.slice(0, 5), count: gaps.length };
}

function withoutLabels(recent: RecentArchive): RecentArchive {
  const days = recent.days.map((day) => ({ ...day, labelsPerHour: null, isLabelsPartial: false }));
  return { ...recent, days, gaps: recent.weatherGaps, areLabelsShown: false };
}

/**
 * Shows the last month of the archive. `refusal` is the reason why the label overview is refused now, or null. An
 * attribute repeats the data for the page's script.
 */
export function RecentSection({ recent, refusal }: { recent: RecentArchive | null; refusal: string | null }) {
  if (!recent) return null;
  const shown = refusal === null ? recent : withoutLabels(recent);
  const { days, gaps, areLabelsShown, newest, issues } = shown;
  const more = gaps.count - gaps.newest.length;
  return (
    <section aria-labelledby="archive" data-archive={embeddedArchive(shown)}>
      <h2 id="archive">The last 30 days</h2>
      {areLabelsShown ? null : <LabelsRefused why={refusal ?? 'Reload this page to show them.'} />}
      <RateChart base="." days={days} what="30 days" areLabelsShown={areLabelsShown} />
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
