import { renderPart } from '../../web/document.tsx';
import { countText, instantText, percentText, rateText } from '../../web/format.ts';
import { percent } from '../../web/shapes.tsx';
import { ChartFigure, chartFile, unreadCaveat } from '../hours/chart-figure.tsx';
import {
  type ArchivedDays,
  type ArchivedIssue,
  type ChartDay,
  chartDays,
  type chartLengths,
  type DayChartKind,
  dayChart,
  type HourGap,
  hourGaps,
  type IssuesByDay,
  issuesIn,
  partShare,
  unratedText,
} from './model.ts';

/** Maximum number of listed gaps on the archive page. */
const maxGaps = 20;
/** Maximum number of listed gaps on the observatory page. */
const maxRecentGaps = 5;

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
        The lines break at days that were not observed. The strips show the share of each day that the archive reports
        as observed{areLabelsShown ? `; for labels, the share in which they were collected. ${lateText(days)}` : '.'}
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
      Every day of the last 12 months, by month, as charts, as a table and as files:{' '}
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
  const [first, last] = [days[0], days.at(-1)];
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
  return instantText(`${day}T00:00:00Z`, 'day');
}

/** States why the chart shows no labels. */
export function LabelsRefused({ why }: { why: string }) {
  return <p data-refused="archived-labels">The chart shows no labels. {why}</p>;
}

/** Lists the newest gaps as text; without gaps, states that the instruments ran in every hour. */
export function GapList({ gaps, areLabelsShown }: { gaps: readonly HourGap[]; areLabelsShown: boolean }) {
  if (gaps.length === 0) {
    const labels = areLabelsShown ? ` Collection of labels ran in every hour; ${unreadCaveat}.` : '';
    return <p>Every hour that is due in the archive was observed entirely by the weather instrument.{labels}</p>;
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

/**
 * Returns the content of the section about the last month of the archive as HTML; null if there is no archive or it has no
 * days. `refusal` is the reason why the label overview is refused, or null. The chart has no links to the values and
 * files of the days, because thirty links would make up a tenth of the observatory page. The archive page has these links.
 */
export function recentHtml(archive: ArchivedDays, now: number, refusal: string | null): string | null {
  const archived = archive.days();
  const newest = archived?.at(-1)?.day;
  if (archived === null || newest === undefined) return null;
  const areLabelsShown = refusal === null;
  const period = { count: recentDays, now, areLabelsShown };
  const gaps = hourGaps(archived, period);
  const issues = issuesIn(archive.issues(), period).all.length;
  const more = gaps.length - maxRecentGaps;
  return renderPart(
    <>
      <h2 id="archive">The last 30 days</h2>
      {refusal === null ? null : <LabelsRefused why={refusal} />}
      <RateChart
        {...{ base: '.', days: chartDays(archived, period), now, areLabelsShown }}
        length="month"
        tableAt="./archive#days"
      />
      <GapList gaps={gaps.slice(0, maxRecentGaps)} areLabelsShown={areLabelsShown} />
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
    </>,
  );
}

interface DayTableProps {
  readonly base: string;
  readonly days: readonly ChartDay[];
  readonly issues: IssuesByDay;
  readonly areLabelsShown: boolean;
}

/** Lists days, newest first, with their files and known issues. */
export function DayTable(props: DayTableProps) {
  const { base, days, issues, areLabelsShown } = props;
  const listed = listedIssues(issues.all);
  return (
    <div class="scroll">
      <table class="archive-days" id="days">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Events per second</th>
            <th scope="col">{areLabelsShown ? 'Labels per hour' : 'Labels'}</th>
            <th scope="col">Files</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.day}>
              <th scope="row">{dayText(day.day)}</th>
              <td>{eventsText(day)}</td>
              <td>{areLabelsShown ? labelsText(day) : 'not shown'}</td>
              <td>
                {day.isArchived ? <Files base={base} day={day} /> : 'not archived'}
                <IssueLinks day={day.day} issues={issues} listed={listed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Files({ base, day: { day, isClosed, hasFirstTables } }: { base: string; day: ChartDay }) {
  const folder = `${base}/archive/days/${day}`;
  return (
    <>
      {isClosed ? 'closed:' : 'open:'} <a href={`${folder}/day.json`}>record</a>{' '}
      {hasFirstTables ? (
        <>
          <a href={`${folder}/weather-by-hour.csv`}>weather</a> <a href={`${folder}/labels-by-hour.csv`}>labels</a>{' '}
        </>
      ) : (
        <>
          <a href={`${folder}/weather-totals.csv`}>weather</a> <a href={`${folder}/labels-totals.csv`}>labels</a>{' '}
        </>
      )}
      <a href={`${folder}/gaps.json`}>gaps</a>
    </>
  );
}

/** Maximum number of listed issues. */
const maxIssues = 10;
/** Maximum total length of the listed summaries, in characters. One issue is always listed, even if it is longer. */
const maxCharacters = 2_000;

/** Returns the newest issues, limited by number and length because a character takes up to six bytes in HTML. */
function listedIssues(issues: readonly ArchivedIssue[]): readonly ArchivedIssue[] {
  let characters = 0;
  const tooMany = issues.findIndex(({ summary }, at) => {
    characters += summary.length;
    return at >= maxIssues || (at > 0 && characters > maxCharacters);
  });
  return tooMany < 0 ? issues : issues.slice(0, tooMany);
}

/**
 * Lists the newest known issues in the words of the operator. Shows nothing if there are none. `issues` contains all
 * issues, newest first.
 */
export function IssueList({ base, issues }: { base: string; issues: readonly ArchivedIssue[] }) {
  if (issues.length === 0) return null;
  const listed = listedIssues(issues);
  const more = issues.length - listed.length;
  const file = `${base}/archive/known-issues.json`;
  return (
    <section aria-labelledby="issues">
      <h2 id="issues">Known issues</h2>
      <p>
        The operator lists known errors in published values in <a href={file}>known-issues.json</a>.
      </p>
      <ul>
        {listed.map(({ id, source, start, end, summary }) => (
          <li key={id} id={anchorOf(id)}>
            {source}, {instantText(start)} to {end === null ? 'now' : instantText(end)}: <bdi>{summary}</bdi>
          </li>
        ))}
        {more > 0 ? (
          <li>
            and <a href={file}>{countText(more)} more in the list</a>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

/**
 * Links a day to the known issues that affect it. The link goes to the issue itself if there is only one and it is in
 * `listed`, and otherwise to the list. Shows nothing if no issue affects the day.
 */
function IssueLinks({ day, issues, listed }: IssueLinksProps) {
  const [first, ...more] = issues.on(day);
  if (!first) return null;
  const href = more.length === 0 && listed.includes(first) ? `#${anchorOf(first.id)}` : '#issues';
  return (
    <>
      {' '}
      <a href={href}>{more.length === 0 ? 'known issue' : `${countText(more.length + 1)} known issues`}</a>
    </>
  );
}

interface IssueLinksProps {
  readonly day: string;
  readonly issues: IssuesByDay;
  readonly listed: readonly ArchivedIssue[];
}

function anchorOf(id: string): string {
  return `issue-${id}`;
}

/** Describes the event rate of a day and, unless it is whole, its observed share. */
function eventsText(day: ChartDay): string {
  if (day.eventsPerSecond === null) return unratedText(day, 'weather');
  return `${rateText(day.eventsPerSecond)}${day.isWeatherPartial ? partText(day.weatherObserved) : ''}`;
}

/** Describes the label rate of a day, the labels that are not part of it and, unless it is whole, its observed share. */
function labelsText(day: ChartDay): string {
  const late = typeof day.lateLabels === 'number' ? `, ${countText(day.lateLabels)} read late` : '';
  if (day.labelsPerHour === null) return `${unratedText(day, 'labels')}${late}`;
  return `${rateText(day.labelsPerHour)}${late}${day.isLabelsPartial ? partText(day.labelsObserved) : ''}`;
}

function partText(observed: number): string {
  return `, ${percentText(partShare(observed))} observed`;
}
