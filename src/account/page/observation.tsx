import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isDid } from '../../contract/identifiers.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import { splitUri, targetOf } from '../../store/label.ts';
import type { Observation } from '../../store/port.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import { second } from '../../store/time.ts';
import { Foreign } from '../../web/foreign.tsx';
import { globalMeaning } from '../../web/global-values.ts';
import { rowOf } from '../export/rows.ts';
import type { Texts } from '../texts/en.ts';
import type { Definition } from '../view/definitions.ts';
import type { AccountView } from '../view/view.ts';

/** Maximum length in characters of a label definition that is shown with an observation. */
const maxDefinition = 300;

/** Data for rendering an observation. */
interface ObservationProps {
  readonly observation: Observation;
  readonly view: Pick<AccountView, 'definitions' | 'network'>;
  readonly t: Texts;
  /**
   * True for observations of the live network. The page links to labelers only if this is true, because simulated
   * labelers cannot be reached.
   */
  readonly isLive: boolean;
}

/**
 * Renders one observation: the event, the labeler and its definition of the value, times and signature. The subject is
 * the heading of its card.
 */
function ObservationItem({ observation, view: { definitions, network }, t, isLive }: ObservationProps) {
  const row = rowOf(observation);
  const { labeler_did: labeler, value } = row;
  const removed = row.action === 'removal_observed';
  return (
    <li class={removed ? 'row removed' : 'row applied'}>
      <p class="row-head">
        <span class="action">{t.action[row.action]}</span> <ValueText value={value} t={t} />
      </p>
      <p class="by">{t.by(<Labeler did={labeler} name={network.names.get(labeler)} t={t} />)}</p>
      <DefinitionText definition={definitions.get(labeler)?.get(value)} value={value} t={t} />
      <dl class="particulars">
        {row.cid === undefined ? null : (
          <Particular name={t.version} wide>
            <code>
              <Foreign text={row.cid} max={100} shortened={t.shortened} />
            </code>
          </Particular>
        )}
        <Particular name={t.observedAt}>
          <Instant at={observation.observedAt} t={t} />
        </Particular>
        <Particular name={t.authored}>
          <Foreign text={row.source_timestamp} max={64} shortened={t.shortened} />
        </Particular>
        {row.expires_at === undefined ? null : (
          <Particular name={t.expires}>
            <Foreign text={row.expires_at} max={64} shortened={t.shortened} />
          </Particular>
        )}
        <Particular name={t.signature}>{t.verdict[row.signature]}</Particular>
      </dl>
      {isLive ? <LabelerLinks labeler={labeler} uri={row.uri} origin={network.origins.get(labeler)} t={t} /> : null}
    </li>
  );
}

/**
 * Renders links from an observation to its labeler: the profile in the official application, and the labeler's own
 * response for the subject. Each link states that its target is outside this service. The link to the response also
 * states what the labeler learns from the request. Renders nothing if neither link is possible.
 */
function LabelerLinks({
  labeler,
  uri,
  origin,
  t,
}: {
  readonly labeler: string;
  readonly uri: string;
  /** Origin of the labeler's endpoint, or undefined if the page may not link to it. */
  readonly origin: string | undefined;
  readonly t: Texts;
}) {
  const profile = profileUrl(labeler);
  const query = queryUrl(origin, uri);
  if (profile === null && query === null) return null;
  return (
    <ul class="ask">
      {profile === null ? null : (
        <li>
          <a href={profile} rel="noreferrer">
            {t.profileLink}
          </a>
        </li>
      )}
      {query === null ? null : (
        <li>
          <a href={query} rel="noreferrer">
            {t.queryLink}
          </a>
        </li>
      )}
    </ul>
  );
}

/** Base URL of profiles in the official application. */
const profiles = 'https://bsky.app/profile/';

/**
 * Maximum length of a subject in a link, in characters. A longer URI may be truncated in the data of a page, so the
 * link would query a different subject.
 */
const maxUriLength = 1_000;

/** Returns the URL of a labeler's profile in the official application, or null if its DID is invalid. */
export function profileUrl(did: string): string | null {
  return isDid(did) ? profiles + did.replaceAll('%', '%25') : null;
}

/**
 * Returns the URL of a labeler's public query for its labels on one subject. `origin` is the result of
 * `publicOrigin`, or undefined. Returns null without an origin, or if the URI may be truncated or is not well-formed
 * Unicode.
 */
export function queryUrl(origin: string | undefined, uri: string): string | null {
  if (origin === undefined || uri.length > maxUriLength || !uri.isWellFormed()) return null;
  return `${origin}/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(uri)}`;
}

/** Number of a subject's observations that are shown without opening its card. */
const newestOfSubject = 5;

/** Data for rendering the observations of one subject. */
interface SubjectProps extends Omit<ObservationProps, 'observation'> {
  readonly uri: string;
  /** Observations of the subject in a list, newest first. */
  readonly observations: readonly Observation[];
}

/** Renders one subject with its observations: the newest ones, and the others in an element that opens. */
export function SubjectItem({ uri, observations, ...rest }: SubjectProps) {
  const { t } = rest;
  const earlier = observations.slice(newestOfSubject);
  return (
    <li class="subject">
      <SubjectHead uri={uri} t={t} />
      {observations.length > 1 ? <p class="soft">{t.ofSubject(observations.length)}</p> : null}
      <ObservationList observations={observations.slice(0, newestOfSubject)} {...rest} />
      {earlier.length === 0 ? null : (
        <details>
          <summary>{t.earlierOfSubject(earlier.length)}</summary>
          <ObservationList observations={earlier} {...rest} />
        </details>
      )}
    </li>
  );
}

function ObservationList({ observations, ...rest }: Omit<SubjectProps, 'uri'>) {
  return (
    <ol class="rows">
      {observations.map((observation) => (
        <ObservationItem key={observation.observedAt} observation={observation} {...rest} />
      ))}
    </ol>
  );
}

function SubjectHead({ uri, t }: { readonly uri: string; readonly t: Texts }) {
  const parts = splitUri(uri);
  if (parts?.kind === 'account') return <p class="subject-head">{t.accountItself}</p>;
  const collection = parts?.kind === 'record' && targetOf(uri) === 'record' ? parts.collection : null;
  return (
    <>
      <p class="subject-head">
        <code>
          <Foreign text={uri} shortened={t.shortened} />
        </code>
      </p>
      {collection === null ? null : (
        <p class="soft">
          {t.collection}{' '}
          <code>
            <Foreign text={collection} max={200} shortened={t.shortened} />
          </code>
        </p>
      )}
    </>
  );
}

interface ParticularProps {
  readonly name: string;
  readonly wide?: boolean;
  readonly children: preact.ComponentChildren;
}

function Particular({ name, wide = false, children }: ParticularProps) {
  return (
    <div class={wide ? 'wide' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface DefinitionProps {
  readonly definition: Definition | undefined;
  readonly value: string;
  readonly t: Texts;
}

/**
 * Renders a labeler's definition verbatim, truncated if it is long, and names the language of the definition if it
 * differs from the language of the page. Without a definition, renders the meaning of a global label value, or a note
 * that no definition was observed.
 */
function DefinitionText({ definition, value, t }: DefinitionProps) {
  if (!definition) {
    const meaning = globalMeaning(value, t.language);
    return <p class="definition none">{meaning === null ? t.noDefinition : t.globalMeaning(meaning)}</p>;
  }
  const { name, description, lang } = definition;
  const language = lang === null || primary(lang) === t.language ? null : t.formats.languageName(lang);
  return (
    <blockquote class="definition" {...(lang === null ? {} : { lang })}>
      <strong>
        <Foreign text={name} max={100} shortened={t.shortened} />
      </strong>{' '}
      <Foreign text={description} max={maxDefinition} shortened={t.shortened} />
      {language === null ? null : (
        <span class="soft" lang={t.language}>
          {' '}
          ({language})
        </span>
      )}
    </blockquote>
  );
}

function primary(tag: string): string | undefined {
  return tag.split('-', 1)[0]?.toLowerCase();
}

/** Renders a label's value, or a placeholder for an empty value. */
export function ValueText({ value, t }: { readonly value: string; readonly t: Texts }) {
  if (value === '') return <em>{t.emptyValue}</em>;
  return (
    <strong class="value">
      <Foreign text={value} max={200} shortened={t.shortened} />
    </strong>
  );
}

/**
 * Renders a labeler: its DID, and the handle that its DID document claims, if any. Links to the page of the labeler if
 * the DID is valid and the address of the facts API is known.
 */
export function Labeler({
  did,
  name,
  t,
}: {
  readonly did: string;
  readonly name: LabelerHandle | undefined;
  readonly t: Texts;
}) {
  const shown =
    name === undefined ? (
      <Did did={did} />
    ) : (
      <>
        <Foreign text={name.name} max={260} />
        {name.confirmed ? ' ' : ` ${t.claimed} `}
        <Did did={did} />
      </>
    );
  const factsUrl = useContext(FactsUrl);
  return factsUrl === null || !isDid(did) ? shown : <a href={`${factsUrl}/labelers/${did}`}>{shown}</a>;
}

/**
 * Address of the facts API without a trailing slash, for links to the pages of labelers, or null if it is not known.
 */
export const FactsUrl = createContext<string | null>(null);

/** Renders a DID from the store. Marks it as untrusted text if its syntax is invalid. */
function Did({ did }: { readonly did: string }) {
  return <code>{isDid(did) ? did : <Foreign text={did} max={300} />}</code>;
}

/** Renders a time of the service's clock, with the exact time in the `datetime` attribute. */
export function Instant({
  at,
  t,
  precision = 'second',
}: {
  readonly at: Micros;
  readonly t: Texts;
  readonly precision?: 'minute' | 'second';
}) {
  return <time dateTime={formatMicros(at)}>{t.formats[precision](at)}</time>;
}

/** Formats a duration of missed time, given in microseconds. Rounds up, so that missed time is never understated. */
export function formatMissed({ formats }: Texts, length: number): string {
  return formats.missed(length / second);
}
