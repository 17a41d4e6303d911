import type { ComponentChildren } from 'preact';
import type { LabelerEnvelope, LabelerFacts } from '../../../contract/labelers.ts';
import { type LabelerProblem, type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import { Count, Instant } from '../../../web/figures.tsx';
import { visible } from '../../../web/foreign.tsx';
import { instantText } from '../../../web/format.ts';
import type { PageParts } from '../../../web/page-body.tsx';
import { Bar } from '../../../web/shapes.tsx';
import { Quote, Unknown } from '../../page/pieces.tsx';
import { Activity } from './activity.tsx';
import { CaveatList, Handle, labelerPageParts } from './frame.tsx';
import { Values } from './values.tsx';
import { at, enumeration, foundText, gapParts, readByText, stateText } from './words.ts';

/** Returns the page of one labeler. */
export function labelerPage(envelope: LabelerEnvelope): PageParts {
  const { did, handle } = envelope.facts;
  const name = handle === null ? did : visible(handle.name, 253).text;
  const parts = labelerPageParts(
    '..',
    {
      title: `${name}: a labeler of the AT Protocol network`,
      description: 'What Almanac observed of this labeler, when it read it, and what it does not know.',
      origin: envelope.provenance.origin,
    },
    <Body envelope={envelope} />,
  );
  return { ...parts, scripts: ['/assets/charts.js'] };
}

function Body({ envelope }: { envelope: LabelerEnvelope }) {
  const { facts, caveats, generated_at: made } = envelope;
  const { did, handle } = facts;
  return (
    <>
      <h1>
        Labeler{' '}
        {handle === null ? <span data-said={`${at}/did`}>{did}</span> : <Handle handle={handle} at={`${at}/handle`} />}
      </h1>
      <p class="soft">
        {handle === null ? null : (
          <>
            <code data-said={`${at}/did`}>{did}</code>.{' '}
            {handle.confirmed ? 'Its handle is confirmed.' : 'Its handle is not confirmed.'}{' '}
          </>
        )}
        {facts.handle_withheld === undefined ? null : 'Its handle is withheld, because it contains an identity. '}
        Generated on <Instant value={made} at="labeler/generated_at" precision="second" />.
      </p>
      <div class="panel">
        <p class="verdict conclusion">
          <Quote text={facts.conclusion} at={`${at}/conclusion`} />
        </p>
      </div>
      <Remedy facts={facts} />
      <Activity facts={facts} />
      <LabelerGaps facts={facts} />
      <SourceState facts={facts} />
      <Values facts={facts} />
      <Checks facts={facts} />
      <section aria-labelledby="json">
        <h2 id="json">The same data as JSON</h2>
        <p>
          Every number here comes from <a href={`../labelers/${did}.json`}>this document</a>, which needs no key and is
          described in <a href="../labelers/openapi.json">an OpenAPI document</a>.
        </p>
      </section>
      <CaveatList caveats={caveats} at="labeler" />
    </>
  );
}

/** Lists the periods during which the labeler was not read, the newest first. */
export function LabelerGaps({ facts }: { facts: LabelerFacts }) {
  const { gap_overflow: overflow } = facts;
  const parts = gapParts(facts);
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">Not read</h2>
      {parts.length === 0 ? (
        <p>No gap is recorded in the window. That does not prove that everything was observed.</p>
      ) : (
        <ul class="gaps">
          {parts.toReversed().map(({ start, end, text }) => {
            // Show seconds if both ends of the gap are within the same minute, so that they differ.
            const precision = instantText(start.value) === instantText(end.value) ? 'second' : 'minute';
            return (
              <li key={start.pointer}>
                <Instant value={start.value} at={start.pointer} precision={precision} /> to{' '}
                <Instant value={end.value} at={end.pointer} precision={precision} />: {text}
              </li>
            );
          })}
        </ul>
      )}
      {overflow ? (
        <p class="soft">
          There were more gaps than can be listed: the closest ones are merged, including the time between them.
        </p>
      ) : null}
    </section>
  );
}

/** Problems for which the page omits that Almanac continues to try: it does not, or the remedy already states it. */
const notRetried: ReadonlySet<LabelerProblem> = new Set(['denied_by_operator', 'share_exceeded', 'unknown']);

/**
 * Shows how a labeler's operator can end its problem, with a link to the page for operators; nothing if there is no
 * problem.
 */
export function Remedy({ facts: { remedy, problem } }: { facts: LabelerFacts }) {
  if (remedy === null) return null;
  return (
    <div class="panel warn">
      <p class="verdict">For the operator of this labeler</p>
      <p>
        <Quote text={remedy} at={`${at}/remedy`} />
      </p>
      <p>
        {problem !== null && notRetried.has(problem) ? null : 'Almanac continues to try by itself. '}
        <a href="../for-labelers">Which requests a labeler receives and how often, and how to ask for a change</a>
      </p>
    </div>
  );
}

/** Shows whether and how Almanac reads a labeler. */
export function SourceState({ facts }: { facts: LabelerFacts }) {
  const { state, state_since: since, found_by: found, read_by: readBy } = facts;
  return (
    <section aria-labelledby="state">
      <h2 id="state">How Almanac reads this labeler</h2>
      <dl class="particulars">
        <Particular name="State">
          <a href={`../method/labels#states-of-a-labeler-${state}`}>{stateText[state]}</a>, since{' '}
          <Instant value={since} at={`${at}/state_since`} />
        </Particular>
        <Particular name="Found in">
          {found.length === 0 ? <Unknown>not known</Unknown> : enumeration(found.map((way) => foundText[way]))}
        </Particular>
        <Particular name="Read">{readBy === null ? 'not now' : readByText[readBy]}</Particular>
        <Particular name="First read">
          <Known value={facts.first_answered} pointer="first_answered" />
        </Particular>
        <Particular name="Last read">
          <Known value={facts.last_answered} pointer="last_answered" />
        </Particular>
        <Particular name="Last row accepted">
          <Known value={facts.last_row} pointer="last_row" />
        </Particular>
        <Particular name="Its database">{replacesText(facts.replaces_rows)}</Particular>
      </dl>
    </section>
  );
}

function replacesText(replaces: boolean | null): string {
  if (replaces === null) return 'It is not known whether it keeps every row of a label.';
  return replaces
    ? 'It keeps only the newest row of each label, so that events that Almanac missed cannot be read later.'
    : 'It keeps every row of a label, so that gaps can be filled in later.';
}

function Known({ value, pointer }: { value: string | null; pointer: string }) {
  return value === null ? <Unknown>none</Unknown> : <Instant value={value} at={`${at}/${pointer}`} />;
}

function Particular({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Descriptions of the results of checking signatures. */
const verdictText: Readonly<Record<SignatureVerdict, string>> = {
  verified: 'signed with the current key',
  verified_earlier_key: 'signed with an earlier key',
  invalid: 'with an invalid signature',
  unsigned: 'not signed',
  unverified: 'not verified: no key, or only one that may be outdated, was available',
};

/** Shows the results of signature checks and the delay of live labels. */
export function Checks({ facts }: { facts: LabelerFacts }) {
  const { counted_since: since, signatures, delay_ms: delay } = facts;
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Signatures and delay</h2>
      {since === null || signatures === null ? (
        <p>Signatures are not counted yet.</p>
      ) : facts.events.window === null ? (
        <p>No label of this labeler is known in the window, so no signature was checked.</p>
      ) : (
        <>
          <p class="soft">
            Counted since <Instant value={since} at={`${at}/counted_since`} />.
          </p>
          <ul>
            {signatureVerdicts.map((verdict) => (
              <li key={verdict}>
                <Count value={signatures[verdict]} at={`${at}/signatures/${verdict}`} /> {verdictText[verdict]}
              </li>
            ))}
          </ul>
        </>
      )}
      {delay === null ? (
        <p>The delay of its labels is not known.</p>
      ) : (
        <>
          <p>
            Delay from the time stated in a label to its acceptance: at most{' '}
            <Count value={delay.p50} at={`${at}/delay_ms/p50`} /> ms for half of the{' '}
            <Count value={delay.labels} at={`${at}/delay_ms/labels`} /> labels that arrived live, and at most{' '}
            <Count value={delay.p90} at={`${at}/delay_ms/p90`} /> ms for nine out of ten.
          </p>
          <Delays delay={delay} />
        </>
      )}
    </section>
  );
}

/** Draws the delays of half and of nine tenths of the labels on one axis, which ends at the longer one. */
function Delays({ delay: { p50, p90 } }: { delay: NonNullable<LabelerFacts['delay_ms']> }) {
  if (!(p90 > 0)) return null;
  return (
    <dl class="delays">
      <dt>half of the labels</dt>
      <dd>
        <Bar share={p50 / p90} />
      </dd>
      <dt>nine out of ten</dt>
      <dd>
        <Bar share={1} />
      </dd>
    </dl>
  );
}
