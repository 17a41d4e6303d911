import type { LabelerEnvelope } from '../../../contract/labelers.ts';
import { Instant } from '../../../web/figures.tsx';
import { visible } from '../../../web/foreign.tsx';
import type { PageParts } from '../../../web/page-body.tsx';
import { Quote } from '../../page/pieces.tsx';
import { Activity } from './activity.tsx';
import { CaveatList, Handle, labelerPageParts } from './frame.tsx';
import { LabelerGaps } from './gaps.tsx';
import { at } from './places.ts';
import { Checks, Remedy, SourceState } from './source.tsx';
import { Values } from './values.tsx';

/** Returns the page of one labeler. */
export function labelerPage(envelope: LabelerEnvelope): PageParts {
  const { did, handle } = envelope.facts;
  const name = handle === null ? did : visible(handle.name, 253).text;
  return labelerPageParts(
    '..',
    {
      title: `${name}: a labeler of the AT Protocol network`,
      description: 'What Almanac observed of this labeler, when it read it, and what it does not know.',
      origin: envelope.provenance.origin,
    },
    <Body envelope={envelope} />,
  );
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
