import { maxValueBytes } from '../../contract/account.ts';
import { formatMicros } from '../../contract/timestamp.ts';
import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import type { AccountTally } from '../../store/counts.ts';
import { Foreign, isPlain, visible } from '../../web/foreign.tsx';
import type { Language } from '../../web/language.ts';
import { type SampleAccount, SampleAccounts } from '../../web/sample-accounts.tsx';
import { type AccountFilters, type AskedQuery, dayShortcuts, type Parameters } from '../query/query.ts';
import type { Texts } from '../texts/en.ts';
import type { PageErrorCode } from '../texts/en-entry.ts';
import type { AccountView } from '../view/view.ts';
import { languageParameter } from './choose-language.ts';
import type { AccountLinks, PageFrame } from './links.ts';

/** Renders the home page: the form for looking up an account, links to sample accounts, and an explanation. */
export function HomeBody({
  frame,
  samples,
}: {
  readonly frame: PageFrame;
  readonly samples: readonly SampleAccount[];
}) {
  const { t, base } = frame;
  return (
    <>
      <h1>{t.homeHeading}</h1>
      <p class="lead">{t.homeLead}</p>
      <LookUpForm frame={frame} />
      {samples.length === 0 ? null : (
        <section aria-labelledby="samples">
          <h2 id="samples">{t.samplesHeading}</h2>
          <SampleAccounts samples={samples} base={base} />
        </section>
      )}
      <div class="two">
        <section aria-labelledby="is">
          <h2 id="is">{t.isHeading}</h2>
          <Items texts={t.is} />
        </section>
        <section aria-labelledby="is-not">
          <h2 id="is-not">{t.isNotHeading}</h2>
          <Items texts={t.isNot} />
        </section>
      </div>
    </>
  );
}

function Items({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** Codes of errors that the user can avoid by choosing a different interval. */
const ofInterval: readonly PageErrorCode[] = ['invalid_interval', 'unsupported_interval', 'out_of_window'];

/**
 * Renders an error page. `typed` contains the submitted parameters; `waitSeconds` is the time until a retry is
 * possible.
 */
export function RefusalBody(props: {
  readonly code: PageErrorCode;
  readonly message: string;
  readonly frame: PageFrame;
  readonly typed: Parameters;
  readonly waitSeconds: number | null;
}) {
  const { code, message, frame, typed, waitSeconds } = props;
  const { t } = frame;
  return (
    <>
      <h1>{t.refusalHeading[code]}</h1>
      <div class="panel stop">
        <p>{message}</p>
        {waitSeconds === null ? null : <p>{t.tryAgain(t.formats.span(waitSeconds))}</p>}
        <p>{t.code(<code>{code}</code>)}</p>
      </div>
      {ofInterval.includes(code) ? <MendInterval frame={frame} typed={typed} /> : null}
      <LookUpForm frame={frame} value={typedText(typed, 'did')} />
    </>
  );
}

/** Renders the form for looking up an account. */
function LookUpForm({ frame: { base, handles, selected, t }, value }: { frame: PageFrame; value?: string }) {
  return (
    <form class="look-up" action={`${base}/account`} method="get">
      {selected === null ? null : <Kept fields={[[languageParameter, selected]]} />}
      <label for="did">{handles ? t.accountOrHandle : t.accountDid}</label>
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
        <button type="submit">{t.show}</button>
      </div>
      <p id="did-hint" class="soft">
        {handles ? t.handleHint : t.didHint}
      </p>
    </form>
  );
}

/** Maximum length in characters of submitted text that is shown again in a form. */
const maxValueLength = 300;

/** Parameters that are kept when a query is refused because of its interval. */
const keptNames = ['did', 'labeler', 'value', 'action', 'target_kind', languageParameter];

/** Renders the form for correcting a refused interval: shows the submitted text and keeps all other parameters. */
function MendInterval({ frame: { base, t }, typed }: { frame: PageFrame; typed: Parameters }) {
  const kept = keptNames.flatMap((name): [string, string][] => {
    const text = typedText(typed, name);
    return text === '' ? [] : [[name, text]];
  });
  return (
    <form class="mend" action={`${base}/account`} method="get">
      <Kept fields={kept} />
      <IntervalFields start={typedText(typed, 'start')} end={typedText(typed, 'end')} t={t} />
    </form>
  );
}

/**
 * Returns the submitted text of a field, to show it again. Returns an empty string if the text is too long or the
 * field was submitted twice.
 */
function typedText(typed: Parameters, name: string): string {
  const text = typed.get(name) ?? '';
  return text.length > maxValueLength ? '' : text;
}

/** Id of the element that opens the form for another interval. */
export const anotherInterval = 'another-interval';

/**
 * Renders the links and forms for the interval and the filters, and the list of the current filters. Each form keeps
 * the parameters that it does not change.
 */
export function Choices({ view, links, frame }: { view: AccountView; links: AccountLinks; frame: PageFrame }) {
  const { base, selected, t } = frame;
  const { query, interval } = view;
  const { asked, filters } = query;
  return (
    <>
      <nav aria-label={t.interval} class="interval">
        {dayShortcuts.map((days) => (
          <a
            key={days}
            href={links.days(days)}
            {...(asked.kind === 'days' && asked.days === days ? { 'aria-current': 'page' as const } : {})}
          >
            {t.days(days)}
          </a>
        ))}
      </nav>
      <details id={anotherInterval} class="choices" open={asked.kind === 'explicit'}>
        <summary>{t.anotherInterval}</summary>
        <form action={`${base}/account`} method="get">
          <Kept fields={keptFields(query, 'filters', selected)} />
          <IntervalFields start={formatMicros(interval.start)} end={formatMicros(interval.end)} t={t} />
        </form>
      </details>
      <FilterForm view={view} frame={frame} />
      <Chosen filters={filters} links={links} t={t} />
    </>
  );
}

function FilterForm({ view, frame: { base, selected, t } }: { view: AccountView; frame: PageFrame }) {
  const { query, tally } = view;
  const { filters } = query;
  return (
    <details class="choices" open={Object.keys(filters).length > 0}>
      <summary>{t.filter}</summary>
      <form action={`${base}/account`} method="get">
        <Kept fields={keptFields(query, 'interval', selected)} />
        <div class="fields">
          <Select
            name="labeler"
            text={t.labeler}
            chosen={filters.labeler}
            options={labelerOptions(view, t)}
            any={t.anyLabeler}
          />
          <TextField name="value" text={t.value} value={filters.value ?? ''} list="values" />
          <datalist id="values">
            {proposedValues(tally).map((value) => (
              <option key={value} value={value} />
            ))}
          </datalist>
          <Select
            name="action"
            text={t.whatHappened}
            chosen={filters.action}
            options={labelActions.map((action) => [action, t.action[action]])}
            any={t.anyAction}
          />
          <Select
            name="target_kind"
            text={t.subjectKind}
            chosen={filters.target_kind}
            options={targetKinds.map((kind) => [kind, t.target[kind]])}
            any={t.anySubject}
          />
          <button type="submit">{t.filter}</button>
        </div>
      </form>
    </details>
  );
}

/**
 * Returns at most 50 values that the filter field suggests. Omits values that are too long for a filter. Also omits
 * values with control or direction characters, because an `option` element cannot mark such characters.
 */
function proposedValues({ values }: AccountTally): string[] {
  return values
    .map(({ value }) => value)
    .filter((value) => isPlain(value) && Buffer.byteLength(value) <= maxValueBytes)
    .slice(0, 50);
}

/** Returns the labelers of the filter field: their DIDs, each with the handle that its DID document claims, if any. */
function labelerOptions({ labelers, query, network }: AccountView, t: Texts): [string, string][] {
  const all = labelers.map(({ labeler }) => labeler);
  const { labeler } = query.filters;
  return (labeler === undefined || all.includes(labeler) ? all : [labeler, ...all]).map((did) => {
    const name = network.names.get(did);
    const claim = name?.confirmed === false ? ` ${t.claimed}` : '';
    return [did, visible(name === undefined ? did : `${name.name}${claim} ${did}`, 300).text];
  });
}

function Chosen({ filters, links, t }: { filters: AccountFilters; links: AccountLinks; t: Texts }) {
  const names = (['labeler', 'value', 'action', 'target_kind'] as const).filter((name) => filters[name] !== undefined);
  if (names.length === 0) return null;
  const titles = { labeler: t.labeler, value: t.value, action: t.whatHappened, target_kind: t.subjectKind };
  const textOf = (name: keyof AccountFilters): string => {
    if (name === 'action' && filters.action) return t.action[filters.action];
    if (name === 'target_kind' && filters.target_kind) return t.target[filters.target_kind];
    return filters[name] ?? '';
  };
  return (
    <div class="panel chosen">
      <p>{t.filtered}</p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            {titles[name]}: <Foreign text={textOf(name)} max={200} shortened={t.shortened} />{' '}
            <a href={links.without(name)}>
              {t.removeFilter}
              <span class="unseen-text"> ({titles[name]})</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns the hidden fields of a form: the parameters that the form does not change. */
function keptFields(
  { account, asked, filters }: AskedQuery,
  keep: 'interval' | 'filters',
  selected: Language | null,
): [string, string][] {
  const interval: [string, string][] =
    asked.kind === 'days'
      ? [['days', String(asked.days)]]
      : [
          ['start', formatMicros(asked.start)],
          ['end', formatMicros(asked.end)],
        ];
  const kept = keep === 'interval' ? interval : Object.entries(filters);
  const all: (readonly [string, unknown])[] = [['did', account], ...kept];
  if (selected !== null) all.push([languageParameter, selected]);
  return all.map(([name, value]): [string, string] => [name, String(value)]);
}

/** Attributes of a field for a name or value. They disable automatic corrections, which are meant for prose. */
const verbatim = { autocomplete: 'off', autocapitalize: 'none', autocorrect: 'off', spellcheck: false } as const;

/** Renders hidden fields with the given names and values. */
function Kept({ fields }: { fields: readonly (readonly [string, string])[] }) {
  return (
    <>
      {fields.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly text: string;
  readonly value: string;
  /** Id of the list with suggestions for the field. */
  readonly list?: string;
  /** Id of the field's hint. */
  readonly hint?: string;
}

/** Renders a text field below its label. */
function TextField({ name, text, value, list, hint }: TextFieldProps) {
  return (
    <div>
      <label for={`field-${name}`}>{text}</label>
      <input
        id={`field-${name}`}
        name={name}
        type="text"
        value={value}
        {...verbatim}
        {...(list === undefined ? {} : { list })}
        {...(hint === undefined ? {} : { 'aria-describedby': hint })}
      />
    </div>
  );
}

/** Properties of a select field: its label, options and selected option. */
interface SelectProps {
  readonly name: string;
  readonly text: string;
  readonly chosen: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly any: string;
}

/** Renders a select field. `any` is an additional option that accepts any value. */
function Select({ name, text, chosen, options, any }: SelectProps) {
  return (
    <div>
      <label for={`field-${name}`}>{text}</label>
      <select id={`field-${name}`} name={name}>
        <option value="">{any}</option>
        {options.map(([value, words]) => (
          <option key={value} value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Renders the two fields of an interval, with an example of the format. */
function IntervalFields({ start, end, t }: { readonly start: string; readonly end: string; readonly t: Texts }) {
  return (
    <>
      <div class="fields">
        <TextField name="start" text={t.from} value={start} hint="interval-hint" />
        <TextField name="end" text={t.to} value={end} hint="interval-hint" />
        <button type="submit">{t.showInterval}</button>
      </div>
      <p id="interval-hint" class="soft">
        {t.intervalHint}
      </p>
    </>
  );
}
