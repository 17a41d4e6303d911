import type { LabelerLine } from '../../../artifact/labelers.ts';
import type { LabelerSummary, LabelersEnvelope } from '../../../contract/labelers.ts';
import { type LabelerState, labelerStates } from '../../../contract/vocabulary.ts';
import { renderPart } from '../../../web/document.tsx';
import { Count, Instant } from '../../../web/figures.tsx';
import { Foreign } from '../../../web/foreign.tsx';
import { agreeing } from '../../../web/format.ts';
import type { PageParts } from '../../../web/page-body.tsx';
import { Quote, Unknown } from '../../page/pieces.tsx';
import {
  isPlain,
  type ListPage,
  type ListQuery,
  maxSearchBytes,
  queryText,
  type SortKey,
  sortKeys,
} from '../catalogue.ts';

import { CaveatList, Handle, labelerPageParts } from './frame.tsx';
import { enumeration, foundText, stateText } from './words.ts';

/** An entry of the list, with its daily events. */
interface ListedLabeler {
  /** Index of the entry in the JSON. */
  readonly index: number;
  readonly summary: LabelerSummary;
  readonly days: LabelerLine['days'];
}

/** Content of the page of all labelers. */
interface ListPageProps {
  /** Envelope of the list, whose entries may be empty. */
  readonly envelope: LabelersEnvelope;
  readonly query: ListQuery;
  readonly selected: ListPage;
}

/** Body of the table in a rendered page. The text is unique, because all texts from elsewhere are escaped. */
const emptyTableBody = '<tbody></tbody>';

/** Inserts rendered rows into a rendered page of all labelers. */
export function withRows(page: string, rows: readonly string[]): string {
  return page.replace(emptyTableBody, () => `<tbody>${rows.join('')}</tbody>`);
}

/** Renders one row of the table. Its text depends only on the artifact. */
export function renderedRow(labeler: ListedLabeler): string {
  return renderPart(<Row {...labeler} />);
}

/** Returns the page of all labelers; its table has no rows, see `withRows`. */
export function listPage(props: ListPageProps): PageParts {
  const parts = labelerPageParts(
    '.',
    {
      title: 'Labelers of the AT Protocol network',
      description: 'The labelers that Almanac follows, with the coverage of the observation of each.',
      origin: props.envelope.provenance.origin,
    },
    <Body {...props} />,
  );
  // Search engines should index only the page without a query.
  return { ...parts, indexed: parts.indexed && isPlain(props.query) };
}

function Body({ envelope, query, selected }: ListPageProps) {
  const { facts, caveats, generated_at: made } = envelope;
  return (
    <>
      <h1>Labelers of the AT Protocol network</h1>
      <p class="verdict">
        <Quote text={facts.conclusion} at="labelers/facts/conclusion" />
      </p>
      <p class="soft">
        Labelers are public moderation services. The counts are observed applications and removals of labels. Generated
        on <Instant value={made} at="labelers/generated_at" precision="second" />.
      </p>
      <SearchForm query={query} states={facts.states} />
      <section aria-labelledby="list">
        <h2 id="list">{query.q === '' && query.state === null ? 'All labelers' : 'Labelers found'}</h2>
        <Found envelope={envelope} query={query} selected={selected} />
        {selected.shown.length === 0 ? null : <Table query={query} />}
        <Pages query={query} selected={selected} />
      </section>
      <section aria-labelledby="json">
        <h2 id="json">The same data as JSON</h2>
        <p>
          <a href="./labelers.json">All labelers</a> as one document, described in{' '}
          <a href="./labelers/openapi.json">an OpenAPI document</a>. It needs no key.
        </p>
      </section>
      <CaveatList caveats={caveats} at="labelers" />
    </>
  );
}

function Found({ envelope, query, selected }: ListPageProps) {
  const { omitted } = envelope.facts;
  return (
    <p data-name="found">
      <Count value={selected.found} /> {agreeing(selected.found, 'labeler', 'labelers')}
      {query.q === '' ? null : (
        <span data-name="q">
          {' '}
          with <Foreign text={query.q} max={64} /> in the name or DID
        </span>
      )}
      {query.state === null ? null : <> in the state “{stateText[query.state]}”</>}
      {selected.pages === 1 ? null : (
        <>
          , page <Count value={selected.page} /> of <Count value={selected.pages} />
        </>
      )}
      .
      {omitted === 0 ? null : (
        <>
          {' '}
          <Count value={omitted} at="labelers/facts/omitted" /> more are not listed.
        </>
      )}
      {selected.found > 0 ? null : (
        <>
          {' '}
          If a labeler is missing: <a href="./for-labelers">how labelers are found</a>.
        </>
      )}
    </p>
  );
}

const columns = [
  ['name', 'Labeler'],
  ['state', 'State'],
  ['events', 'Events in 7 days'],
] as const satisfies readonly (readonly [SortKey, string])[];

function Table({ query }: Pick<ListPageProps, 'query'>) {
  return (
    <table class="kinds labelers-list">
      <thead>
        <tr>
          {columns.map(([key, title]) => (
            <th
              key={key}
              scope="col"
              class={key === 'events' ? 'number' : undefined}
              aria-sort={query.sort === key ? (key === 'events' ? 'descending' : 'ascending') : undefined}
            >
              {query.sort === key ? title : <a href={sortLink(query, key)}>{title}</a>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody />
    </table>
  );
}

function Row({ index, summary, days }: ListedLabeler) {
  const { did, handle, state, last_answered: answered, found_by: found, events, unread_days_7d: unread } = summary;
  const at = `labelers/facts/labelers/${index}`;
  return (
    <tr>
      <th scope="row">
        <a href={`./labelers/${did}`}>
          {handle === null ? (
            <code data-said={`${at}/did`}>{did}</code>
          ) : (
            <Handle handle={handle} at={`${at}/handle`} />
          )}
        </a>
        {handle === null ? null : (
          <small>
            {handle.confirmed ? null : 'Handle not confirmed. '}
            <code data-said={`${at}/did`}>{did}</code>
          </small>
        )}
      </th>
      <td>
        {stateText[state]}
        <small>
          {answered === null ? (
            'Never read'
          ) : (
            <>
              Last read <Instant value={answered} at={`${at}/last_answered`} />
            </>
          )}
        </small>
        {found.length === 0 ? null : <small>Found in {enumeration(found.map((way) => foundText[way]))}</small>}
      </td>
      <td class="number">
        {events.week === null ? <Unknown>not read</Unknown> : <Count value={events.week} at={`${at}/events/week`} />}
        <DayBars days={days} />
        {unread === 0 ? null : (
          <small>
            incomplete on <Count value={unread} at={`${at}/unread_days_7d`} /> {agreeing(unread, 'day', 'days')}
          </small>
        )}
      </td>
    </tr>
  );
}

function Pages({ query, selected: { page, pages } }: Pick<ListPageProps, 'query' | 'selected'>) {
  if (pages === 1) return null;
  const link = (to: number): string => `./labelers${queryText({ ...query, page: to })}`;
  return (
    <nav class="pages" aria-label="Pages of the list">
      {page === 1 ? null : (
        <a href={link(page - 1)} rel="prev">
          Previous page
        </a>
      )}
      {page === pages ? null : (
        <a href={link(page + 1)} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** Height of the picture, in units of the drawing. */
const height = 12;
/** Width of a day's bar; each day is one unit wide. */
const width = 0.8;

/**
 * Shows the events of each day as bars, with another colour for days that were not or only partly read. Screen readers
 * skip the picture, because the text next to it summarizes the last seven days.
 */
function DayBars({ days }: { days: LabelerLine['days'] }) {
  const totals = days.map(([applied, removed]) => (applied ?? 0) + (removed ?? 0));
  const most = Math.max(1, ...totals);
  let read = '';
  let unread = '';
  days.forEach(([, , share], index) => {
    const total = totals[index] ?? 0;
    const tall = total === 0 ? 0 : Math.max(1, Math.round((total / most) * height * 10) / 10);
    if (tall > 0) read += `M${index} ${height}v-${tall}h${width}v${tall}z`;
    if (share === 0) unread += `M${index} 0h1v${height}h-1z`;
    else if (share < 1) unread += `M${index} 0h1v2h-1z`;
  });
  return (
    <svg class="day-bars" viewBox={`0 0 ${days.length} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="chart-part" d={unread} />
      <path class="chart-up" d={read} />
    </svg>
  );
}

/** Names of the sort orders of the list. */
const sortText: Readonly<Record<SortKey, string>> = {
  events: 'most events first',
  name: 'by name',
  state: 'by state',
  since: 'latest change of state first',
  read: 'last read first',
};

/** Shows the search form of the list, which works without scripts. */
function SearchForm({ query, states }: { query: ListQuery; states: Readonly<Record<LabelerState, number>> }) {
  const present = labelerStates.filter((state) => states[state] > 0 || query.state === state);
  return (
    <search>
      <form class="find" action="./labelers" method="get">
        <div>
          <label for="q">Name or DID</label>
          <input id="q" name="q" type="search" maxLength={maxSearchBytes} value={query.q} autocomplete="off" />
        </div>
        <div>
          <label for="state">State</label>
          <select id="state" name="state">
            <option value="" selected={query.state === null}>
              any state
            </option>
            {present.map((state) => (
              <option key={state} value={state} selected={query.state === state}>
                {stateText[state]}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="sort">Order</label>
          <select id="sort" name="sort">
            {sortKeys.map((key) => (
              <option key={key} value={key} selected={query.sort === key}>
                {sortText[key]}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">Show</button>
      </form>
    </search>
  );
}

/** Returns the link to the first page of the list in another sort order. */
function sortLink(query: ListQuery, sort: SortKey): string {
  return `./labelers${queryText({ ...query, sort, page: 1 })}`;
}
