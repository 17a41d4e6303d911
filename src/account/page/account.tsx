import type { AccountTally } from '../../store/counts.ts';
import type { Interval } from '../../store/time.ts';
import { markOf, type Snapshot } from '../cursor/cursor.ts';
import { wantedInterval } from '../query/query.ts';
import type { AccountServices } from '../services.ts';
import type { Texts } from '../texts/en.ts';
import { type Part, wholeRows } from '../view/rows.ts';
import type { AccountView } from '../view/view.ts';
import { AnswerSection } from './answer.tsx';
import { CoverageSection } from './coverage.tsx';
import { anotherInterval, Choices } from './entry.tsx';
import { type AccountLinks, accountLinks, type PageFrame } from './links.ts';
import { Instant, SubjectItem } from './observation.tsx';
import { nothingSeen, TimelineSection } from './picture.tsx';

/** Data for rendering the page of an account. */
interface AccountPageProps {
  readonly view: AccountView;
  readonly frame: PageFrame;
  /**
   * True for observations of the live network. The page links to labelers only if this is true, because simulated
   * labelers cannot be reached.
   */
  readonly isLive: boolean;
  /**
   * Downloads of all rows of the interval, in several parts if a single download would be too large. Null if a day was
   * not counted or has too many rows for one download.
   */
  readonly downloads: readonly DownloadLink[] | null;
}

/** Renders the page of one account. */
export function AccountBody({ view, frame, isLive, downloads }: AccountPageProps) {
  const { query, interval, before, parts } = view;
  const { t } = frame;
  const links = accountLinks(frame, query);
  return (
    <>
      <h1>
        {t.heading} <code>{query.account}</code>
      </h1>
      <p class="lead">
        {t.lead(
          <Instant at={interval.start} t={t} precision="minute" />,
          <Instant at={interval.end} t={t} precision="minute" />,
        )}
      </p>
      <Outcome view={view} t={t} />
      {interval.clipped ? (
        <p class="panel warn">
          {t.clipped(<Instant at={interval.start} t={t} />, <Instant at={interval.end} t={t} />)}
        </p>
      ) : null}
      {before === null && view.tally.groups.length > 0 ? (
        // The table may have a hundred links, which a reader with a keyboard would otherwise pass one by one.
        <a class="skip" href={`#${anotherInterval}`}>
          {t.answer.skip}
        </a>
      ) : null}
      {before === null ? <AnswerSection view={view} links={links} t={t} /> : null}
      <Choices view={view} links={links} frame={frame} />
      {before === null ? <TimelineSection timeline={view.timeline} isFiltered={isFiltered(view)} t={t} /> : null}
      {parts.map((part) => (
        <PartSection key={part.target} part={part} {...{ view, links, t, isLive }} />
      ))}
      <Appeals t={t} isLive={isLive} />
      <CoverageSection view={view} t={t} />
      <DownloadSection view={view} links={links} downloads={downloads} t={t} />
    </>
  );
}

/**
 * Renders the number of observations, or a note that the page continues a list. If there are no observations, states
 * that this does not prove that no labels exist.
 */
function Outcome({ view, t }: { readonly view: AccountView; readonly t: Texts }) {
  const { parts, timeline, before, labelers } = view;
  if (before !== null) return <p class="panel">{t.before(<Instant at={before} t={t} />)}</p>;
  const { total, uncounted } = timeline;
  const empty = parts.every(({ rows, next }) => rows.length === 0 && next === null);
  const filtered = isFiltered(view);
  if (empty) {
    const [unread] = labelers.flatMap(({ reading }) => (reading === 'read' ? [] : [t.unread[reading]]));
    return (
      <div class="panel none-observed">
        <p>
          <strong>{unread ?? (filtered ? t.noneMatching : t.none)}</strong>
        </p>
        <p>{t.noneExplained}</p>
        <AppealsLink t={t} />
      </div>
    );
  }
  const events = <strong>{t.events(total, uncounted)}</strong>;
  return (
    <div class="panel">
      <p>
        {filtered ? t.matching(events) : t.observed(events)}
        {t.eventsExplained}
      </p>
      <AppealsLink t={t} />
    </div>
  );
}

/** Renders a link to the explanation of appeals, which also helps with a label that was not observed. */
function AppealsLink({ t }: { readonly t: Texts }) {
  return (
    <p>
      <a href="#appeals">{t.disagree}</a>
    </p>
  );
}

/** Returns true if the page shows only the observations that match filters. */
function isFiltered({ query }: AccountView): boolean {
  return Object.keys(query.filters).length > 0;
}

interface PartProps {
  readonly part: Part;
  readonly view: AccountView;
  readonly links: AccountLinks;
  readonly t: Texts;
  readonly isLive: boolean;
}

function PartSection({ part, view, links, t, isLive }: PartProps) {
  const { target, total, rows, next } = part;
  const unseen = rows.length === 0 && next === null && nothingSeen(view.timeline);
  const [none, noneBefore] = isFiltered(view)
    ? [t.noneMatching, t.noneMatchingBefore]
    : [t.noneOfPart, t.noneOfPartBefore];
  const noneText = view.before === null ? none : noneBefore;
  return (
    <section aria-labelledby={`part-${target}`}>
      <h2 id={`part-${target}`}>
        {t.target[target]}{' '}
        <span class="soft">({unseen ? t.notObserved : total === null ? t.notAllCounted : t.formats.count(total)})</span>
      </h2>
      {rows.length === 0 ? (
        <p>{unseen ? t.intervalNotObserved : next === null ? noneText : t.noneOfPartYet}</p>
      ) : (
        <ol class="subjects">
          {[...Map.groupBy(rows, ({ label }) => label.uri)].map(([uri, observations]) => (
            <SubjectItem key={uri} {...{ uri, observations, view, t, isLive }} />
          ))}
        </ol>
      )}
      <More part={part} view={view} links={links} t={t} />
    </section>
  );
}

/**
 * Renders a note that a part's list is incomplete, with links to the remaining rows. Renders nothing if the list is
 * complete.
 */
function More({ part: { target, total, rows, next }, view, links, t }: Omit<PartProps, 'isLive'>) {
  if (next === null) return null;
  const alone = view.query.filters.target_kind !== undefined;
  return (
    <p class="panel more">
      {t.more({ shown: rows.length, newest: view.before === null, total })}{' '}
      <a href={links.older(target, next)}>
        {t.older} <span class="unseen-text">{t.olderOf[target]}</span>
      </a>
      {alone || rows.length > wholeRows ? null : (
        <>
          {' '}
          {t.or} <a href={links.filtered({ target_kind: target })}>{t.onlyThese}</a>
        </>
      )}
    </p>
  );
}

/**
 * Renders the explanation of how to appeal in the official application. For a simulated network, adds that its
 * accounts do not exist there.
 */
function Appeals({ t, isLive }: { readonly t: Texts; readonly isLive: boolean }) {
  return (
    <section aria-labelledby="appeals">
      <h2 id="appeals">{t.disagree}</h2>
      {isLive ? null : <p>{t.appealsSimulated}</p>}
      <p>{t.appeals}</p>
    </section>
  );
}

/** A part of an interval that fits into one download. */
interface DownloadPart extends Interval {
  /** Number of the account's rows in the part, before the filters are applied. */
  readonly rows: number;
}

/** A download of the page's rows, or of a part of them. */
interface DownloadLink extends DownloadPart {
  readonly href: string;
}

/** Renders links for downloading all rows of the interval, or a link to the export if there are too many rows. */
function DownloadSection({
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
  const filtered = isFiltered(view);
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
      observedThrough: frontier.observedThrough,
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
