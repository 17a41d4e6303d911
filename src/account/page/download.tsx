import type { Interval } from '../../store/time.ts';
import type { LinkOf } from '../texts/piece.ts';
import type { Texts } from '../texts/texts.ts';
import type { AccountView } from '../view/view.ts';
import type { AccountLinks } from './links.ts';

/** A download of the page's rows, or of a part of them. */
export interface DownloadLink extends Interval {
  /** Number of the account's rows in the part, before the filters are applied. */
  readonly rows: number;
  readonly href: string;
}

/** Renders links for downloading all rows of the interval, or a link to the export if there are too many rows. */
export function DownloadSection({
  view,
  links,
  downloads,
  t,
}: {
  readonly view: AccountView;
  readonly links: AccountLinks;
  readonly downloads: readonly DownloadLink[] | null;
  readonly t: Texts;
}) {
  const filtered = Object.keys(view.query.filters).length > 0;
  const [first, ...others] = downloads ?? [];
  const { minute } = t.formats;
  const exportLink = linkTo(links.export);
  return (
    <section aria-labelledby="whole">
      <h2 id="whole">{t.download}</h2>
      {!first ? (
        <p>{t.tooManyDownloads(exportLink)}</p>
      ) : others.length === 0 ? (
        <p>{t.wholeDownload(linkTo(first.href), filtered)}</p>
      ) : (
        <>
          <p>{t.partDownloads(view.rows ?? 0, filtered)}</p>
          <ol>
            {[first, ...others].map(({ start, end, rows, href }) => (
              <li key={start}>
                <a href={href}>{t.range(minute(start), minute(end))}</a>, {t.rows(rows)}
              </li>
            ))}
          </ol>
        </>
      )}
      <p class="soft">{t.downloadsExpire(exportLink, <code>almanac export</code>)}</p>
    </section>
  );
}

function linkTo(href: string): LinkOf {
  return (text) => <a href={href}>{text}</a>;
}
