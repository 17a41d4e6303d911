import { countText } from '../../web/format.ts';
import type { Part } from '../view/rows.ts';
import { wholeRows } from '../view/rows.ts';
import type { AccountView } from '../view/view.ts';
import { CoverageSection } from './coverage.tsx';
import type { DownloadLink } from './download.tsx';
import { DownloadSection } from './download.tsx';
import { Choices } from './forms.tsx';
import { type AccountLinks, accountLinks } from './links.ts';
import { Instant, ObservationItem } from './observation.tsx';
import { nothingSeen, TimelineSection } from './picture.tsx';
import { counted, eventsText, targetText, unreadText } from './words.ts';

/** Data that the page of an account renders. */
export interface AccountPageProps {
  readonly view: AccountView;
  readonly base: string;
  /** Downloads of the page's rows, in parts if they are many, or null if the rows could not be counted. */
  readonly downloads: readonly DownloadLink[] | null;
}

/** Shows the page of one account. */
export function AccountBody({ view, base, downloads }: AccountPageProps) {
  const { query, interval, before, parts } = view;
  const links = accountLinks(base, query);
  return (
    <>
      <h1>
        Labels observed on <code class="did">{query.account}</code>
      </h1>
      <p class="lead">
        Observed applications and removals of labels from <Instant at={interval.start} precision="minute" /> to{' '}
        <Instant at={interval.end} precision="minute" />, with the limits of the observation. This page does not know
        which labels apply now.
      </p>
      {interval.clipped ? (
        <p class="panel warn">
          You requested more than was observed or is kept. This page starts on <Instant at={interval.start} /> and ends
          on <Instant at={interval.end} />.
        </p>
      ) : null}
      <Choices view={view} links={links} base={base} />
      <Outcome view={view} />
      {before === null ? <TimelineSection timeline={view.timeline} /> : null}
      {parts.map((part) => (
        <PartSection key={part.target} part={part} view={view} links={links} />
      ))}
      <CoverageSection view={view} />
      <DownloadSection view={view} links={links} downloads={downloads} />
    </>
  );
}

/** Shows the number of observations in one panel; if there is none, states that this proves nothing. */
function Outcome({ view: { parts, timeline, before, query, labelers } }: { readonly view: AccountView }) {
  if (before !== null) {
    return (
      <p class="panel">
        Observations accepted before <Instant at={before} />. This page is a part of the list.
      </p>
    );
  }
  const { total, uncounted } = timeline;
  const empty = parts.every(({ rows, next }) => rows.length === 0 && next === null);
  const filtered = Object.keys(query.filters).length > 0;
  if (empty) {
    const [unread] = labelers.flatMap(({ reading }) => (reading === 'read' ? [] : [unreadText[reading]]));
    return (
      <div class="panel none-observed">
        <p>
          <strong>{unread ?? `No observations${filtered ? ' match the filters' : ''} in this interval.`}</strong>
        </p>
        <p>
          That does not mean that no labels exist: this page shows only labels that were applied or removed in this
          interval by labelers that Almanac reads, while it read them. The time that was not observed is listed below.
        </p>
      </div>
    );
  }
  return (
    <p class="panel">
      <strong>{eventsText(total, uncounted)}</strong> {filtered ? 'match the filters.' : 'were observed.'} These are
      events: an applied label may have been removed without being observed, or have expired. Observing none of a kind
      does not mean that none exists.
    </p>
  );
}

interface PartProps {
  readonly part: Part;
  readonly view: AccountView;
  readonly links: AccountLinks;
}

function PartSection({ part: { target, total, rows, next }, view, links }: PartProps) {
  const alone = view.query.filters.target_kind !== undefined;
  const unseen = rows.length === 0 && next === null && nothingSeen(view.timeline);
  return (
    <section aria-labelledby={`part-${target}`}>
      <h2 id={`part-${target}`}>
        {targetText[target]}{' '}
        <span class="soft">({unseen ? 'not observed' : total === null ? 'not all counted' : countText(total)})</span>
      </h2>
      {rows.length === 0 ? (
        <p>
          {unseen
            ? 'This interval was not observed.'
            : next === null
              ? `None observed in this interval${view.before === null ? '' : ' before this place'}.`
              : 'None found so far; older observations have not been read yet.'}
        </p>
      ) : (
        <ol class="rows">
          {rows.map((observation) => (
            <ObservationItem
              key={observation.observedAt}
              observation={observation}
              definitions={view.definitions}
              names={view.network.names}
            />
          ))}
        </ol>
      )}
      {next === null ? null : (
        <p class="panel more">
          {rows.length === 0
            ? 'Nothing'
            : view.before === null
              ? `The newest ${countText(rows.length)}`
              : `The next ${countText(rows.length)}`}
          {total === null ? '' : ` of ${counted(total, 'observation')}`} shown; this list is incomplete.{' '}
          <a href={links.older(target, next)}>
            Older ones <span class="unseen-text">{targetText[target].toLowerCase()}</span>
          </a>
          {alone || rows.length > wholeRows ? null : (
            <>
              {' '}
              or <a href={links.filtered({ target_kind: target })}>only these, starting with the newest</a>
            </>
          )}
        </p>
      )}
    </section>
  );
}
