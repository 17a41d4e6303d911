import type { LabelerFacts } from '../../../contract/labelers.ts';
import type { Gap } from '../../../contract/labels.ts';
import type { DiscoveryWay, GapReason, LabelerState, ReadingTransport } from '../../../contract/vocabulary.ts';

/** Plain English texts for the vocabulary of labelers. They contain no numbers. */

/** Names of the states of a labeler. */
export const stateText: Readonly<Record<LabelerState, string>> = {
  established: 'Read',
  probing: 'Being tried',
  unstarted: 'Not requested yet',
  refused: 'Refuses requests',
  cursor_order_unverified: 'Order of its pages not verified',
  undated_only: 'Only labels without a date',
  provider_rejects: 'Rejected by its provider',
  unavailable: 'Currently failing',
  departed: 'No longer followed',
  denied: 'Not read by decision of the operator',
};

/** Descriptions of the ways in which a labeler was found. */
export const foundText: Readonly<Record<DiscoveryWay, string>> = {
  seeds: 'the list that Almanac started with',
  relay: 'the list of a relay',
  jetstream: 'the event stream of the network',
  directory: 'the directory of DIDs',
};

/** Descriptions of the ways in which a labeler is read. */
export const readByText: Readonly<Record<ReadingTransport, string>> = {
  stream: 'as a stream (subscribeLabels)',
  pages: 'page by page (queryLabels)',
};

/** Descriptions of the reasons for the gaps of one labeler. */
const labelerGapText: Readonly<Record<GapReason, string>> = {
  not_observed: 'this labeler had not been read yet, or what it sent could not be understood',
  source_unavailable: 'the labeler was unavailable or not followed',
  ingest_paused: 'Almanac paused its collection',
  cursor_reset: 'the position in the labeler’s stream was lost',
  maintenance: 'maintenance of Almanac, or its operator removed the labels',
  warmup: 'before the observation began',
  unknown: 'reason unknown',
};

/** Joins phrases into an English enumeration. */
export function enumeration(phrases: readonly string[]): string {
  const last = phrases.at(-1) ?? '';
  return phrases.length < 2 ? last : `${phrases.slice(0, -1).join(', ')} and ${last}`;
}

/** End of a part of a gap, with the place of its value in the documents of the page. */
interface GapEnd {
  readonly value: string;
  readonly pointer: string;
}

/** A part of a gap to which one reason applies, and the description of the reason. */
interface GapPart {
  readonly start: GapEnd;
  readonly end: GapEnd;
  readonly text: string;
}

/**
 * Maximum time before a denial during which a labeler that is read may count as incomplete, in milliseconds: reading of
 * a quiet labeler is confirmed once in nine minutes.
 */
const maxUnconfirmedMs = 10 * 60_000;

/**
 * Describes the gaps of a labeler, oldest first. A gap with the reason `source_unavailable` that lasts beyond a denial is
 * split at the denial, because the labeler is not responsible for the time afterwards.
 */
export function gapParts(facts: Pick<LabelerFacts, 'state' | 'state_since' | 'gaps'>): GapPart[] {
  return facts.gaps.flatMap((gap, index) => {
    const start = { value: gap.start, pointer: `${at}/gaps/${index}/start` };
    const end = { value: gap.end, pointer: `${at}/gaps/${index}/end` };
    const whole = { start, end, text: labelerGapText[gap.reason] };
    if (!isPartlyDenied(facts, gap)) return [whole];
    const denial = { value: facts.state_since, pointer: `${at}/state_since` };
    const text = 'the operator of Almanac decided not to read it';
    if (Date.parse(facts.state_since) - Date.parse(gap.start) <= maxUnconfirmedMs) return [{ ...whole, text }];
    return [
      { ...whole, end: denial },
      { start: denial, end, text },
    ];
  });
}

function isPartlyDenied({ state, state_since: since }: Pick<LabelerFacts, 'state' | 'state_since'>, gap: Gap): boolean {
  return state === 'denied' && gap.reason === 'source_unavailable' && Date.parse(gap.end) > Date.parse(since);
}

/** Prefix of the JSON pointers on a labeler's page. */
export const at = 'labeler/facts';
