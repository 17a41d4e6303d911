import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AccountRow } from '../../contract/account.ts';
import { isDid } from '../../contract/identifiers.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { Observation } from '../../store/port.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import { splitUri, targetOf } from '../../store/subject.ts';
import { Instant as InstantFigure } from '../../web/figures.tsx';
import { Foreign } from '../../web/foreign.tsx';
import { rowOf } from '../query/row.ts';
import type { Definition, LabelerDefinitions } from '../view/definitions.ts';
import { actionText, signatureText } from './words.ts';

/** Maximum length in characters of a label definition within one observation. */
const maxDefinition = 300;

/** Shows one observation: the event, the labeler's definition of the value, and both times. */
export function ObservationItem({
  observation,
  definitions,
  names,
}: {
  readonly observation: Observation;
  readonly names: ReadonlyMap<string, LabelerHandle>;
  readonly definitions: ReadonlyMap<string, LabelerDefinitions>;
}) {
  const row = rowOf(observation);
  const removed = row.action === 'removal_observed';
  return (
    <li class={removed ? 'row removed' : 'row applied'}>
      <p class="row-head">
        <span class="action">{actionText[row.action]}</span> <ValueText value={row.value} />
      </p>
      <p class="by">
        by labeler <Labeler did={row.labeler_did} name={names.get(row.labeler_did)} />
      </p>
      <DefinitionText definition={definitions.get(row.labeler_did)?.byValue.get(row.value)} />
      <dl class="particulars">
        <Subject row={row} />
        <Particular name="Observed (Almanac’s clock)">
          <Instant at={observation.observedAt} />
        </Particular>
        <Particular name="Authored (as the labeler wrote it)">
          <Foreign text={row.source_timestamp} max={64} />
        </Particular>
        {row.expires_at === undefined ? null : (
          <Particular name="Expires (as the labeler wrote it)">
            <Foreign text={row.expires_at} max={64} />
          </Particular>
        )}
        <Particular name="Signature">{signatureText[row.signature]}</Particular>
      </dl>
    </li>
  );
}

function Subject({ row: { uri, cid } }: { readonly row: AccountRow }) {
  const parts = splitUri(uri);
  if (parts?.kind === 'account') {
    return (
      <Particular name="Subject" wide>
        The account itself
      </Particular>
    );
  }
  const collection = parts?.kind === 'record' && targetOf(uri) === 'record' ? parts.collection : null;
  return (
    <>
      {collection === null ? null : (
        <Particular name="Collection">
          <span class="mono">
            <Foreign text={collection} max={200} />
          </span>
        </Particular>
      )}
      <Particular name="Subject" wide>
        <span class="mono">
          <Foreign text={uri} />
        </span>
        {cid === undefined ? null : (
          <span class="cid">
            version{' '}
            <span class="mono">
              <Foreign text={cid} max={100} />
            </span>
          </span>
        )}
      </Particular>
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

function DefinitionText({ definition }: { readonly definition: Definition | undefined }) {
  if (!definition) return <p class="definition none">No definition of this value by the labeler was observed.</p>;
  const { name, description, lang } = definition;
  return (
    <blockquote class="definition" {...(lang === null ? {} : { lang })}>
      <strong>
        <Foreign text={name} max={100} />
      </strong>{' '}
      <Foreign text={description} max={maxDefinition} />
    </blockquote>
  );
}

/** Shows a label's value, or a description of an empty value. */
export function ValueText({ value }: { readonly value: string }) {
  if (value === '') return <em>an empty value</em>;
  return (
    <strong class="value">
      <Foreign text={value} max={200} />
    </strong>
  );
}

/** Shows a labeler: the handle that its DID document claims, if any, and its DID. */
export function Labeler({ did, name }: { readonly did: string; readonly name: LabelerHandle | undefined }) {
  const shown =
    name === undefined ? (
      <Did did={did} />
    ) : (
      <>
        <Foreign text={name.name} max={260} />
        {name.confirmed ? ' ' : ' (claimed, not confirmed) '}
        <Did did={did} />
      </>
    );
  const factsUrl = useContext(FactsUrl);
  return factsUrl === null || !isDid(did) ? shown : <a href={`${factsUrl}/labelers/${did}`}>{shown}</a>;
}

/** Address of the facts API without a trailing slash, which has a page of each labeler; null if it is not known. */
export const FactsUrl = createContext<string | null>(null);

/** Shows a DID from the store, as foreign text if its syntax is invalid. */
export function Did({ did }: { readonly did: string }) {
  return <code class="did">{isDid(did) ? did : <Foreign text={did} max={300} />}</code>;
}

/** Shows an instant of the service's clock, with the exact value in the `datetime` attribute. */
export function Instant({
  at,
  precision = 'second',
}: {
  readonly at: Micros;
  readonly precision?: 'minute' | 'second';
}) {
  return <InstantFigure value={formatMicros(at)} precision={precision} />;
}
