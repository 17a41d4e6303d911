import { maxValueBytes } from '../../contract/account.ts';
import { formatMicros } from '../../contract/timestamp.ts';
import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import type { AccountTally } from '../../store/account-counts.ts';
import { Foreign, isPlain, visible } from '../../web/foreign.tsx';
import type { Parameters } from '../query/parameters.ts';
import { dayShortcuts } from '../query/query.ts';
import type { AccountFilters } from '../query/row.ts';
import type { AccountView } from '../view/view.ts';
import { IntervalFields, Kept, Select, TextField, verbatim } from './fields.tsx';
import { type AccountLinks, keptFields } from './links.ts';
import { actionText, targetText } from './words.ts';

/** Shows the form for looking up an account. */
export function LookUpForm({ base, handles, value }: { base: string; handles: boolean; value?: string }) {
  return (
    <form class="look-up" action={`${base}/account`} method="get">
      <label for="did">{handles ? 'Handle or DID of an account' : 'DID of an account'}</label>
      <div class="field">
        <input
          id="did"
          name="did"
          type="text"
          required
          {...verbatim}
          aria-describedby="did-hint"
          {...(value === undefined ? {} : { value })}
        />
        <button type="submit">Show observations</button>
      </div>
      <p id="did-hint" class="soft">
        {handles
          ? 'For example alice.bsky.social, or a DID that begins with did:plc: or did:web:'
          : 'It begins with did:plc: or did:web:'}
      </p>
    </form>
  );
}

/** Maximum length in characters of submitted text that a form shows again. */
const maxValueLength = 300;

/** Parameters that are kept from a query whose interval was refused. */
const keptNames = ['did', 'labeler', 'value', 'action', 'target_kind'];

/** Shows the form for correcting a refused interval, with the submitted text and all other parameters. */
export function MendInterval({ base, typed }: { base: string; typed: Parameters }) {
  const kept = keptNames.flatMap((name): [string, string][] => {
    const text = typedText(typed, name);
    return text === '' ? [] : [[name, text]];
  });
  return (
    <form class="mend" action={`${base}/account`} method="get">
      <Kept fields={kept} />
      <IntervalFields start={typedText(typed, 'start')} end={typedText(typed, 'end')} />
    </form>
  );
}

/**
 * Returns a submitted text to show again in its field. Returns an empty text if the submitted one is too long or was
 * given twice.
 */
export function typedText(typed: Parameters, name: string): string {
  const text = typed.get(name) ?? '';
  return text.length > maxValueLength ? '' : text;
}

/** Shows the forms for the interval and for the filters; each form keeps the parameters that it does not change. */
export function Choices({ view, links, base }: { view: AccountView; links: AccountLinks; base: string }) {
  const { query, interval } = view;
  const { asked, filters } = query;
  return (
    <>
      <nav aria-label="Interval" class="interval">
        {dayShortcuts.map((days) => (
          <a
            key={days}
            href={links.days(days)}
            {...(asked.kind === 'days' && asked.days === days ? { 'aria-current': 'page' as const } : {})}
          >
            {days} days
          </a>
        ))}
      </nav>
      <details class="choices" open={asked.kind === 'explicit'}>
        <summary>Another interval</summary>
        <form action={`${base}/account`} method="get">
          <Kept fields={keptFields(query, 'filters')} />
          <IntervalFields start={formatMicros(interval.start)} end={formatMicros(interval.end)} />
        </form>
      </details>
      <FilterForm view={view} base={base} />
      <Chosen filters={filters} links={links} />
    </>
  );
}

function FilterForm({ view, base }: { view: AccountView; base: string }) {
  const { query, tally } = view;
  const { filters } = query;
  return (
    <details class="choices" open={Object.keys(filters).length > 0}>
      <summary>Filter</summary>
      <form action={`${base}/account`} method="get">
        <Kept fields={keptFields(query, 'interval')} />
        <div class="fields">
          <Select
            name="labeler"
            text="Labeler"
            chosen={filters.labeler}
            options={labelerOptions(view)}
            any="any labeler"
          />
          <TextField name="value" text="Value" value={filters.value ?? ''} list="values" />
          <datalist id="values">
            {proposedValues(tally).map((value) => (
              <option key={value} value={value} />
            ))}
          </datalist>
          <Select
            name="action"
            text="What happened"
            chosen={filters.action}
            options={labelActions.map((action) => [action, actionText[action]])}
            any="applied or removed"
          />
          <Select
            name="target_kind"
            text="Subject"
            chosen={filters.target_kind}
            options={targetKinds.map((kind) => [kind, targetText[kind]])}
            any="any subject"
          />
          <button type="submit">Filter</button>
        </div>
      </form>
    </details>
  );
}

/**
 * Returns the values that the filter field suggests. Options cannot mark up foreign text, so values with invisible or
 * bidirectional characters are omitted.
 */
function proposedValues({ values }: AccountTally): string[] {
  return values
    .map(({ value }) => value)
    .filter((value) => isPlain(value) && Buffer.byteLength(value) <= maxValueBytes)
    .slice(0, 50);
}

function labelerOptions({ labelers, query }: AccountView): [string, string][] {
  const all = labelers.map(({ labeler }) => labeler);
  const { labeler } = query.filters;
  return (labeler === undefined || all.includes(labeler) ? all : [labeler, ...all]).map((did) => [
    did,
    visible(did, 300).text,
  ]);
}

function Chosen({ filters, links }: { filters: AccountFilters; links: AccountLinks }) {
  const names = (['labeler', 'value', 'action', 'target_kind'] as const).filter((name) => filters[name] !== undefined);
  if (names.length === 0) return null;
  const words = { labeler: 'Labeler', value: 'Value', action: 'What happened', target_kind: 'Subject' };
  const textOf = (name: keyof AccountFilters): string => {
    if (name === 'action' && filters.action) return actionText[filters.action];
    if (name === 'target_kind' && filters.target_kind) return targetText[filters.target_kind];
    return filters[name] ?? '';
  };
  return (
    <div class="panel chosen">
      <p>Only some observations are shown. Filters:</p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            {words[name]}: <Foreign text={textOf(name)} max={200} />{' '}
            <a href={links.without(name)}>
              Remove this filter<span class="unseen-text"> ({words[name]})</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
