import type { Origin } from '../../contract/vocabulary.ts';
import { errorReply, type HeaderList, type Reply, withBody } from '../../http/reply.ts';
import { type Coding, encode } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { countText, instantText, originTitles } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { originCaveats } from '../resources.ts';
import { dayText, eventsText, GapList, LabelsRefused, labelsText, RateChart, recentDays } from './chart.tsx';
import { DatasetSection, datasetOf } from './dataset.tsx';
import { chartLengths } from './day-charts.ts';
import {
  type ArchivedDay,
  type ArchivedDays,
  type ArchivedIssue,
  type ChartDay,
  chartDays,
  hourGaps,
  hourNumber,
  type IssuesByDay,
  issuesIn,
} from './model.ts';

/** Path of the archive page. */
export const archivePagePath = '/archive';

const yearDays = chartLengths.year;

const headers: HeaderList = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Vary',
  'Accept-Encoding',
];

/** State from which the archive page is rendered. */
interface Shown {
  readonly days: readonly ArchivedDay[];
  /** Known issues of the archive. They change together with the list of days. */
  readonly issues: readonly ArchivedIssue[];
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Reason why the label overview is refused; null while it is served. */
  readonly refusal: string | null;
  /**
   * Origins of the served facts, except `live`. The page marks these origins, so that a simulated archive cannot be
   * mistaken for a live one.
   */
  readonly origins: readonly MarkedOrigin[];
}

type MarkedOrigin = Exclude<Origin, 'live'>;

/**
 * Creates the resource of the archive page. The page is rendered again when the archive, the hour, the refusal of the
 * label overview or the marked origins change. The response is 503 while the archive does not exist or has not been
 * read.
 */
export function archivePage(common: HeaderList, source: ArchivedDays) {
  let kept: { shown: Shown; html: Buffer; replies: Map<Coding, Reply> } | undefined;
  const unavailable = errorReply('asset_unavailable', common, ['Cache-Control', 'no-store']);

  return (coding: Coding, now: number, refusal: string | null, origins: readonly MarkedOrigin[] = []): Reply => {
    const days = source.days();
    if (days === null) return unavailable;
    const shown = { days, issues: source.issues(), now, refusal, origins };
    if (!kept || !isSame(kept.shown, shown)) {
      kept = { shown, html: Buffer.from(renderPage(archiveParts(shown))), replies: new Map() };
    }
    const known = kept.replies.get(coding);
    if (known) return known;
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const reply = withBody(200, 'text/html; charset=utf-8', encode(kept.html, coding), [
      ...[...codingHeader, ...headers],
      ...common,
    ]);
    kept.replies.set(coding, reply);
    return reply;
  };
}

function isSame(a: Shown, b: Shown): boolean {
  const isSameHour = a.days === b.days && hourNumber(a.now) === hourNumber(b.now);
  return isSameHour && a.refusal === b.refusal && a.origins.join() === b.origins.join();
}

/** Returns the parts of the archive page. Its links are relative, so that it works under any path prefix. */
function archiveParts(shown: Shown): PageParts {
  const base = '.';
  const { origins } = shown;
  return {
    title: [...origins.map((origin) => originTitles[origin]), 'The archive: what was published, day by day'].join(''),
    description: 'Daily files of the observations of the AT Protocol network, with their gaps, in the public domain.',
    base,
    // Exclude simulated data from search engines, which could present it as live.
    indexed: origins.length === 0,
    ...(origins.length === 0 ? {} : { banner: origins.map((origin) => originCaveats[origin]).join(' ') }),
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: './labelers', text: 'Labelers' },
      { href: './docs', text: 'API' },
      { href: './method/weather', text: 'Method' },
      { href: './policy', text: 'Policy' },
      { href: './for-labelers', text: 'For labelers' },
    ],
    children: <Body base={base} shown={shown} />,
  };
}

function Body({ base, shown: { days, issues, now, refusal, origins } }: { base: string; shown: Shown }) {
  const areLabelsShown = refusal === null;
  const period = { count: recentDays, now, areLabelsShown };
  const month = chartDays(days, period);
  const newest = days.at(-1)?.day;
  const dataset = datasetOf(days, { origins, areLabelsShown });
  const concerning = issuesIn(issues, { ...period, count: yearDays });
  return (
    <>
      <h1>The archive</h1>
      <p>
        The archive keeps what this observatory publishes: its facts hour by hour, daily tables, and the gaps of each
        day. Closed days never change, which <a href={`${base}/archive/log/checkpoint`}>a signed log</a> proves. The
        files are in the public domain (CC0). <a href={`${base}/archive/index.json`}>index.json</a> lists all days,{' '}
        <a href={`${base}/archive/tables.json`}>tables.json</a> the columns of the tables (CSV and Parquet). A row
        exists only for what was observed; in the same folder, <code>weather-gaps.csv</code> and{' '}
        <code>labels-gaps.csv</code> state what was not, and why.{' '}
        {newest === undefined ? 'The archive has no days yet.' : `The newest day in the archive is ${dayText(newest)}.`}
      </p>
      <p>
        To verify every file, run <code>almanac archive verify</code> with the address of this page. To cite a day,
        state this address, the day, and the SHA-256 of its record; cite only closed days, because an open one still
        changes.
      </p>
      {refusal === null ? null : <LabelsRefused why={refusal} />}
      <IssueList base={base} issues={concerning.all} />
      <section aria-labelledby="month">
        <h2 id="month">30 days</h2>
        <RateChart days={month} length="month" areDaysLinked {...{ base, now, areLabelsShown }} />
        <GapList gaps={hourGaps(days, period)} areLabelsShown={areLabelsShown} />
        <DayTable base={base} days={month} issues={concerning} areLabelsShown={areLabelsShown} />
      </section>
      <section aria-labelledby="year">
        <h2 id="year">12 months</h2>
        <RateChart
          days={chartDays(days, { ...period, count: yearDays })}
          length="year"
          areDaysLinked
          {...{ base, now, areLabelsShown }}
        />
      </section>
      {dataset === null ? null : <DatasetSection dataset={dataset} base={base} />}
    </>
  );
}

interface DayTableProps {
  readonly base: string;
  readonly days: readonly ChartDay[];
  readonly issues: IssuesByDay;
  readonly areLabelsShown: boolean;
}

/** Lists the days of the last month, newest first, with their files and known issues. */
function DayTable(props: DayTableProps) {
  const { base, days, issues, areLabelsShown } = props;
  const listed = listedIssues(issues.all);
  return (
    <div class="scroll">
      <table class="archive-days">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Events</th>
            <th scope="col">Labels</th>
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
function IssueList({ base, issues }: { base: string; issues: readonly ArchivedIssue[] }) {
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
