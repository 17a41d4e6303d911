import type { Interval } from '../../store/time.ts';
import type { AccountLinks } from './links.ts';
import type { AccountView } from './view.ts';
import { counted, minuteWords } from './words.ts';

/** One download of the page's rows. */
export interface DownloadLink extends Interval {
  /** The account's rows in it, whatever the filters. */
  readonly rows: number;
  readonly href: string;
}

/** How to get the whole. */
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
      <h2 id="whole">The whole of it</h2>
      {!first ? (
        <p>
          There are too many rows to say here how they fit into downloads. Ask for an <a href={links.export}>export</a>:
          it answers with intervals that fit and together cover this one.
        </p>
      ) : others.length === 0 ? (
        <p>
          <a href={first.href}>Download as JSON</a>: every row of this interval
          {filtered ? ' that agrees with the filters' : ''}, with its coverage and a digest.
        </p>
      ) : (
        <>
          <p>
            {counted(view.rows ?? 0, 'row')} are more than one download holds. These parts together are the whole
            {filtered ? ' (of which the filters leave less)' : ''}:
          </p>
          <ol>
            {[first, ...others].map(({ start, end, rows, href }) => (
              <li key={start}>
                <a href={href}>
                  {minuteWords(start)} to {minuteWords(end)}
                </a>
                , {counted(rows, 'row')}
              </li>
            ))}
          </ol>
        </>
      )}
      <p class="soft">
        Links to downloads work for some minutes; load this page again for new ones. A program reads the same by pages,
        from <a href={links.export}>the export of this query</a>, or with <code>almanac export</code>. Rows, those of
        deleted accounts too, age out with the window of 30 days.
      </p>
    </section>
  );
}
