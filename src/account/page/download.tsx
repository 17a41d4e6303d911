import type { AccountTally } from '../../store/account-counts.ts';
import type { Interval } from '../../store/time.ts';
import { markOf, type Snapshot } from '../cursor/cursor.ts';
import { wantedInterval } from '../query/query.ts';
import type { AccountServices } from '../services.ts';
import type { Texts } from '../texts/en.ts';
import type { AccountView } from '../view/view.ts';
import type { AccountLinks } from './links.ts';

/** A part of an interval that fits into one download. */
interface DownloadPart extends Interval {
  /** Number of the account's rows in the part, before the filters are applied. */
  readonly rows: number;
}

/** A download of the page's rows, or of a part of them. */
export interface DownloadLink extends DownloadPart {
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

/** Returns a function that renders a link with a text. */
function linkTo(href: string) {
  return (text: string) => <a href={href}>{text}</a>;
}

/**
 * Returns the downloads of the interval's rows, one for each part of the interval that fits into a download. Returns
 * null if there are no such parts.
 */
export function downloadsOf(
  view: AccountView,
  base: string,
  { cursors, bounds }: Pick<AccountServices, 'cursors' | 'bounds'>,
  now: number,
): DownloadLink[] | null {
  const parts = downloadParts(view.tally, bounds.maxExportRows);
  if (parts === null) return null;
  const { query, interval, frontier } = view;
  const wanted = wantedInterval(query.asked, view.now);
  return parts.map((part) => {
    const first = part.start === interval.start;
    const last = part.end === interval.end;
    const snapshot: Snapshot = {
      account: query.account,
      filters: query.filters,
      start: part.start,
      end: part.end,
      askedStart: first ? view.shown.start : part.start,
      // Mark only the parts that contain a clipped bound.
      clipped: (first && wanted.start < interval.start) || (last && interval.end < wanted.end),
      generation: markOf(frontier),
      frontier: frontier.end,
      countBound: part.rows,
      pageRows: bounds.pageRows,
      createdAt: now,
      expiresAt: now + bounds.ttlMs,
    };
    return { ...part, href: `${base}/download?cursor=${cursors.seal({ kind: 'snapshot', snapshot })}` };
  });
}

/**
 * Splits an interval at midnights into adjacent parts with at most `maxRows` rows each. Returns null if a day was not
 * counted or has more than `maxRows` rows; a client can then request an export, whose error response lists shorter
 * intervals.
 */
export function downloadParts({ days }: Pick<AccountTally, 'days'>, maxRows: number): DownloadPart[] | null {
  const parts: DownloadPart[] = [];
  for (const { start, end, counts } of days) {
    if (counts === null || counts.rows > maxRows) return null;
    const last = parts.at(-1);
    if (last && last.rows + counts.rows <= maxRows) {
      parts[parts.length - 1] = { start: last.start, end, rows: last.rows + counts.rows };
    } else {
      parts.push({ start, end, rows: counts.rows });
    }
  }
  return parts;
}
