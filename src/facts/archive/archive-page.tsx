import type { Origin } from '../../contract/vocabulary.ts';
import { errorReply, type HeaderList, type Reply } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import type { PageParts } from '../../web/page-body.tsx';
import { chartFile, Ranges } from '../hours/chart-figure.tsx';
import { htmlReplies } from '../representation.ts';
import { markedParts, originCaveats } from '../shown-facts.ts';
import {
  DayTable,
  dayText,
  GapList,
  IssueList,
  LabelsRefused,
  MonthList,
  monthPath,
  monthText,
  RateChart,
  recentDays,
} from './chart.tsx';
import {
  type ArchivedDay,
  type ArchivedDays,
  type ArchivedIssue,
  chartDays,
  chartLengths,
  hourGaps,
  hourStart,
  isMonth,
  issuesIn,
  monthDays,
} from './model.ts';

/** Path of the archive page. */
export const archivePagePath = '/archive';

const yearDays = chartLengths.year;

/** State from which a page of the archive is rendered. */
interface Shown {
  readonly days: readonly ArchivedDay[];
  /** Known issues of the archive. They change together with the list of days. */
  readonly issues: readonly ArchivedIssue[];
  /** Start of the current hour, in milliseconds since 1970. */
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
  let kept: { readonly shown: Shown; readonly replies: (coding: Coding) => Reply } | undefined;
  const unavailable = unavailableReply(common);

  return (coding: Coding, now: number, refusal: string | null, origins: readonly MarkedOrigin[] = []): Reply => {
    const days = source.days();
    if (days === null) return unavailable;
    const shown = { days, issues: source.issues(), now: hourStart(now), refusal, origins };
    if (!kept || !isSame(kept.shown, shown)) {
      kept = { shown, replies: htmlReplies(renderPage(archiveParts(shown)), common) };
    }
    return kept.replies(coding);
  };
}

/**
 * Creates the resource of the pages of the archive's months (`YYYY-MM`). A page is rendered on each request. The response
 * is null for a month without days in the last twelve months, and 503 while the archive does not exist or has not been
 * read.
 */
export function monthPage(common: HeaderList, source: ArchivedDays) {
  const unavailable = unavailableReply(common);
  return (coding: Coding, month: string, shown: Pick<Shown, 'now' | 'refusal' | 'origins'>): Reply | null => {
    const days = source.days();
    if (days === null) return isMonth(month) ? unavailable : null;
    const parts = monthParts({ days, issues: source.issues(), ...shown, now: hourStart(shown.now) }, month);
    return parts && htmlReplies(renderPage(parts), common)(coding);
  };
}

function unavailableReply(common: HeaderList): Reply {
  return errorReply('asset_unavailable', common, ['Cache-Control', 'no-store']);
}

function isSame(a: Shown, b: Shown): boolean {
  const isSameData = a.days === b.days && a.now === b.now;
  return isSameData && a.refusal === b.refusal && a.origins.join() === b.origins.join();
}

/** Returns the parts of the archive page. Its links are relative, so that it works under any path prefix. */
function archiveParts(shown: Shown): PageParts {
  return {
    ...frameParts(shown.origins, '.', 'The archive: what was published, day by day'),
    description: 'Daily files of the observations of the AT Protocol network, with their gaps, in the public domain.',
    children: <Body base="." shown={shown} />,
  };
}

function frameParts(origins: readonly MarkedOrigin[], base: string, title: string): PageParts {
  return {
    ...markedParts(origins, title),
    base,
    scripts: ['/assets/charts.js'],
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: `${base}/labelers`, text: 'Labelers' },
      { href: `${base}/archive`, text: 'Archive' },
      { href: `${base}/docs`, text: 'API' },
      { href: `${base}/method/weather`, text: 'Method' },
      { href: `${base}/policy`, text: 'Policy' },
      { href: `${base}/for-labelers`, text: 'For labelers' },
    ],
    children: null,
  };
}

/**
 * Returns the parts of the page of a month: its days as charts, as a table and as files. Null for a month without days in
 * the last twelve months.
 */
function monthParts(shown: Shown, month: string): PageParts | null {
  const { issues, now, refusal, origins } = shown;
  const days = monthDays(shown.days, month, { now, areLabelsShown: refusal === null });
  if (days.length === 0) return null;
  const base = '..';
  const areLabelsShown = refusal === null;
  const concerning = issuesIn(issues, { count: yearDays, now, areLabelsShown });
  const name = monthText(month);
  return {
    ...frameParts(origins, base, `The archive: ${name}`),
    description: `What was observed of the AT Protocol network in ${name}, day by day, with its gaps.`,
    children: (
      <>
        <h1>The archive: {name}</h1>
        <Ranges base={base} current={null} hasArchive />
        {refusal === null ? null : <LabelsRefused why={refusal} />}
        <RateChart
          {...{ base, days, now, areLabelsShown }}
          length="month"
          files={`${base}${monthPath}${month}/`}
          tableAt="#days"
          links="days"
        />
        <DayTable base={base} days={days} issues={concerning} areLabelsShown={areLabelsShown} />
        <p>
          <a href={`${base}/archive#year`}>All months</a>
        </p>
      </>
    ),
  };
}

function Body({ base, shown: { days, issues, now, refusal, origins } }: { base: string; shown: Shown }) {
  const areLabelsShown = refusal === null;
  const period = { count: recentDays, now, areLabelsShown };
  const month = chartDays(days, period);
  const year = chartDays(days, { ...period, count: yearDays });
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
        <a href={`${base}/archive/tables.json`}>tables.json</a> the columns of the tables (CSV and Parquet), and{' '}
        <a href={`${base}/archive/loaders/archive_month.py`}>archive_month.py</a> downloads those of a month. A row
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
        <Ranges base={base} current="30 days" hasArchive />
        <RateChart days={month} length="month" tableAt="#days" links="days" {...{ base, now, areLabelsShown }} />
        <GapList gaps={hourGaps(days, period)} areLabelsShown={areLabelsShown} />
        <DayTable base={base} days={month} issues={concerning} areLabelsShown={areLabelsShown} />
      </section>
      <section aria-labelledby="year">
        <h2 id="year">12 months</h2>
        <RateChart days={year} length="year" tableAt="#months" links="months" {...{ base, now, areLabelsShown }} />
        <MonthList base={base} days={year} />
      </section>
      {dataset === null ? null : <DatasetSection dataset={dataset} base={base} />}
    </>
  );
}

/**
 * The archive as a dataset: one description, which the page shows as text for citations and contains as JSON-LD for
 * search engines of datasets.
 */
interface ArchiveDataset {
  /** First and newest day of the archive in the form `YYYY-MM-DD`. */
  readonly first: string;
  readonly newest: string;
  /** Origins of the data, except `live`. */
  readonly origins: readonly Exclude<Origin, 'live'>[];
  /** False while the label overview is refused; files of labels alone are then not offered. */
  readonly areLabelsShown: boolean;
}

const name = 'Almanac: archive of observations of the AT Protocol network';
const description =
  'Events of the network by hour and collection, applications and removals of labels by hour and labeler, and for every day the gaps of the observation.';
const licence = { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' };
const technique =
  'Passive observation of a public event stream and of the public label streams of labelers, with the observed time of each hour. Unobserved time is never interpolated.';

/** Files that the page offers of the whole archive, with their media types. */
const allFiles = [
  ['list of all days', '/archive/index.json', 'application/json'],
  ['columns of the daily tables', '/archive/tables.json', 'application/json'],
  ['events per second by day, 12 months', `${chartFile('year-events')}.csv`, 'text/csv'],
  ['labels per hour by day, 12 months', `${chartFile('year-labels')}.csv`, 'text/csv'],
] as const;

/** Returns the dataset of the archive's days; null if there are none. */
function datasetOf(
  days: readonly ArchivedDay[],
  rest: Pick<ArchiveDataset, 'origins' | 'areLabelsShown'>,
): ArchiveDataset | null {
  const [first, newest] = [days[0]?.day, days.at(-1)?.day];
  return first === undefined || newest === undefined ? null : { first, newest, ...rest };
}

function filesOf({ areLabelsShown }: ArchiveDataset): readonly (typeof allFiles)[number][] {
  return allFiles.filter(([text]) => areLabelsShown || !text.startsWith('labels'));
}

/** Shows how to cite the archive, and describes it as a schema.org `Dataset`. `base` is the relative URL of the service. */
function DatasetSection({ dataset, base }: { readonly dataset: ArchiveDataset; readonly base: string }) {
  const { first, newest } = dataset;
  return (
    <section aria-labelledby="cite">
      <h2 id="cite">Citing the archive</h2>
      <p>
        {name}, {dayText(first)} to {dayText(newest)}. {description} {technique} Free of charge, in the public domain (
        <a href={licence.url}>{licence.name}</a>). Files:{' '}
        {filesOf(dataset).map(([text, path], at) => (
          <span key={path}>
            {at === 0 ? '' : ', '}
            <a href={`${base}${path}`}>{text}</a>
          </span>
        ))}
        .
      </p>
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: jsonLd(dataset, base) }} />
    </section>
  );
}

/** Returns the dataset as JSON-LD, without characters that could end the script element. */
function jsonLd(dataset: ArchiveDataset, base: string): string {
  const { first, newest, origins } = dataset;
  const caveats = origins.map((origin) => originCaveats[origin]);
  return JSON.stringify({
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    name,
    description: [...caveats, description].join(' '),
    url: `${base}/archive`,
    license: licence.url,
    isAccessibleForFree: true,
    temporalCoverage: `${first}/${newest}`,
    measurementTechnique: technique,
    creator: { '@type': 'Organization', name: 'Almanac' },
    distribution: filesOf(dataset).map(([text, path, encodingFormat]) => ({
      ...{ '@type': 'DataDownload', name: text, contentUrl: `${base}${path}`, encodingFormat },
    })),
  }).replaceAll('<', '\\u003c');
}
