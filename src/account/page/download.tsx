import type { Interval } from '../../store/time.ts';
import type { AccountView } from '../view/view.ts';
import type { AccountLinks } from './links.ts';
import { counted, formatMinute } from './words.ts';

/** One download of the page's rows. */
export interface DownloadLink extends Interval {
  /** Number of the account's rows in the part, regardless of the filters. */
  readonly rows: number;
  readonly href: string;
}

/** Shows links for downloading all rows of an account's page. */
export function DownloadSection({
  view,
  links,
  downloads,
}: {
  readonly view: AccountView;
  readonly links: AccountLinks;
  readonly downloads: readonly DownloadLink[] | null;
}) {
  const { query } = view;
  const filtered = Object.keys(query.filters).length > 0;
  const [first, ...others] = downloads ?? [];
  return (
    <section aria-labelledby="whole">
      <h2 id="whole">Download everything</h2>
      {!first ? (
        <p>
          There are too many rows to list downloads here. Request an <a href={links.export}>export</a>: the response
          lists intervals that fit and together cover this one.
        </p>
      ) : others.length === 0 ? (
        <p>
          <a href={first.href}>Download as JSON</a>: every row of this interval
          {filtered ? ' that matches the filters' : ''}, with its coverage and a digest.
        </p>
      ) : (
        <>
          <p>
            {counted(view.rows ?? 0, 'row')} are too many for one download. Together these parts are complete
            {filtered ? ' (the filters select fewer)' : ''}:
          </p>
          <ol>
            {[first, ...others].map(({ start, end, rows, href }) => (
              <li key={start}>
                <a href={href}>
                  {formatMinute(start)} to {formatMinute(end)}
                </a>
                , {counted(rows, 'row')}
              </li>
            ))}
          </ol>
        </>
      )}
      <p class="soft">
        Download links expire after some minutes; reload this page for new ones. Programs can read the same data in
        pages from <a href={links.export}>the export of this query</a>, or with <code>almanac export</code>. Rows,
        including those of deleted accounts, are removed after 30 days.
      </p>
    </section>
  );
}
