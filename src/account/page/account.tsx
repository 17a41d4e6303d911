import { countText } from '../../web/format.ts';
import { CoverageSection } from './coverage.tsx';
import type { DownloadLink } from './download.tsx';
import { DownloadSection } from './download.tsx';
import { Choices } from './forms.tsx';
import { type AccountLinks, accountLinks } from './links.ts';
import { Instant, ObservationItem } from './observation.tsx';
import { nothingSeen, TimelineSection } from './picture.tsx';
import type { Part } from './rows.ts';
import { wholeRows } from './rows.ts';
import type { AccountView } from './view.ts';
import { counted, eventsText, targetWords, unreadWords } from './words.ts';

/** What the body of an account's page is rendered from. */
export interface AccountPageProps {
  readonly view: AccountView;
  readonly base: string;
  /** Downloads of the page's rows, in parts where they are many; null when they could not be counted. */
  readonly downloads: readonly DownloadLink[] | null;
}

/** The page of one account. */
export function AccountBody({ view, base, downloads }: AccountPageProps) {
  const { query, interval, before, parts } = view;
  const links = accountLinks(base, query);
  return (
    <>
      <h1>
        Labels observed on <code class="did">{query.account}</code>
      </h1>
      <p class="lead">
        What labelers were seen to apply and remove from <Instant at={interval.start} precision="minute" /> to{' '}
        <Instant at={interval.end} precision="minute" />, and what could not be seen. This page does not know which
        labels hold now.
      </p>
      {interval.clipped ? (
        <p class="panel warn">
          You asked for more than was observed or is kept. What is shown begins on <Instant at={interval.start} /> and
          ends on <Instant at={interval.end} />.
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

/** What was found, in one panel; where nothing was, that this proves nothing. */
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
    const [unread] = labelers.flatMap(({ reading }) => (reading === 'read' ? [] : [unreadWords[reading]]));
    return (
      <div class="panel none-observed">
        <p>
          <strong>{unread ?? `No observations${filtered ? ' agree with the filters' : ''} in this interval.`}</strong>
        </p>
        <p>
          That does not mean that no labels exist: only what was applied or removed in this interval, by labelers that
          are read, while they were read, can be seen here. What could not be seen stands below.
        </p>
      </div>
    );
  }
  return (
    <p class="panel">
      <strong>{eventsText(total, uncounted)}</strong> {filtered ? 'agree with the filters.' : 'were observed.'} These
      are events: a label that was applied may have been taken back unseen, or have expired. Observing none of a kind
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
        {targetWords[target]}{' '}
        <span class="soft">({unseen ? 'not observed' : total === null ? 'not all counted' : countText(total)})</span>
      </h2>
      {rows.length === 0 ? (
        <p>
          {unseen
            ? 'This interval was not observed.'
            : next === null
              ? `None observed in this interval${view.before === null ? '' : ' before this place'}.`
              : 'None found so far; older observations were not looked at yet.'}
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
          {total === null ? '' : ` of ${counted(total, 'observation')}`} shown; this is not the whole.{' '}
          <a href={links.older(target, next)}>
            Older ones <span class="unseen-text">{targetWords[target].toLowerCase()}</span>
          </a>
          {alone || rows.length > wholeRows ? null : (
            <>
              {' '}
              or <a href={links.filtered({ target_kind: target })}>only these, from the newest on</a>
            </>
          )}
        </p>
      )}
    </section>
  );
}
