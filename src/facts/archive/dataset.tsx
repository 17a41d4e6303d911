import type { Origin } from '../../contract/vocabulary.ts';
import { chartFile } from '../hours/hours-chart.ts';
import { originCaveats } from '../resources.ts';
import { dayText } from './chart.tsx';
import type { ArchivedDay } from './model.ts';

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
export function datasetOf(
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
export function DatasetSection({ dataset, base }: { readonly dataset: ArchiveDataset; readonly base: string }) {
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
