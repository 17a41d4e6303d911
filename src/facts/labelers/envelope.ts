import { type LabelerEnvelope, type LabelersEnvelope, labelerContractIds } from '../../contract/labelers.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { originCaveats } from '../caveats.ts';
import type { Judgement } from '../judge.ts';
import { recentLabelProvenance } from '../project-recent-labels.ts';
import type { Catalogue } from './catalogue.ts';
import type { Pair } from './pair.ts';
import { projectLabeler } from './project-labeler.ts';

/** Envelopes of the documents about labelers. */

type Servable = Extract<Judgement, { servable: true }>;

const caveats = [
  'Observed application and removal events do not establish which labels are active now.',
  'Having no observations does not mean that no labels exist.',
  'For a day that was only partly read, only the observed events are counted. For an unread day, the counts are null.',
  'The absence of recorded gaps does not prove complete coverage.',
] as const;

const labelerCaveats = [
  'A value is named only if the definitions of the labeler declare it; the events of all other values are counted together.',
  'Definitions and values are the words of the labeler.',
] as const;

function caveatsOf(origin: Origin, more: readonly string[]): string[] {
  return [...(origin === 'live' ? [] : [originCaveats[origin]]), ...caveats, ...more];
}

function head<P>({ overview, labelers }: Pair<P>, { freshness }: Servable, now: number) {
  return {
    instrument: 'labels' as const,
    generated_at: labelers.set.header.generated_at,
    retrieved_at: formatTimestamp(now),
    age_seconds: freshness.age_seconds ?? 0,
    provenance: { ...recentLabelProvenance(overview), artifact_schema_version: labelers.set.header.schema },
    freshness,
  };
}

function frame<P>({ overview, labelers }: Pair<P>) {
  const { window, counted_since } = labelers.set.header;
  const { generation_id, started_at, basis } = overview.acquisition;
  return {
    window: { start: window.start, end: window.end },
    acquisition: { generation_id, started_at, basis },
    counted_since,
  };
}

/** Returns the envelope of the list with an empty list of labelers. */
export function listEnvelope(pair: Pair<Catalogue>, judgement: Servable, now: number): LabelersEnvelope {
  const { prepared, set } = pair.labelers;
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return {
    contract: labelerContractIds.list,
    ...first,
    facts: {
      ...frame(pair),
      conclusion: prepared.conclusion,
      states: { ...prepared.states },
      omitted: set.header.omitted,
      labelers: [],
    },
    caveats: caveatsOf(pair.overview.origin ?? 'live', []),
    provenance,
    freshness,
  };
}

/** Returns the envelope of one labeler's document; null if the artifact has no such labeler. */
export function labelerEnvelope<P>(
  pair: Pair<P>,
  did: string,
  judgement: Servable,
  now: number,
): LabelerEnvelope | null {
  const { set } = pair.labelers;
  const line = set.labeler(did);
  if (line === null) return null;
  const { conclusion, ...own } = projectLabeler(line, set.definitions(did), set.header);
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return {
    contract: labelerContractIds.one,
    ...first,
    facts: { ...frame(pair), conclusion, ...own },
    caveats: caveatsOf(pair.overview.origin ?? 'live', labelerCaveats),
    provenance,
    freshness,
  };
}
