import type { LabelerFacts } from '../../../contract/labelers.ts';
import type { Gap } from '../../../contract/labels.ts';
import { labelerGapText } from './words.ts';

/** End of a part of a gap, with the place of its value in the documents of the page. */
interface GapEnd {
  readonly value: string;
  readonly pointer: string;
}

/** A part of a gap to which one reason applies, and the description of the reason. */
export interface GapPart {
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
