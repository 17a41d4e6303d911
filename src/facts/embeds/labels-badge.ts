import type { LabelsOverview } from '../../contract/envelope.ts';
import { countText } from '../../web/format.ts';
import { isRecent, type ObservatoryFacts, originOf, type Shown } from '../page/model.ts';
import { type Badge, renderBadge } from './badge.tsx';
import { ageText, labelCoverageText, refusalText } from './texts.ts';

/** Renders the badge of label activity. */
export function labelsBadge({ labels }: ObservatoryFacts): string {
  return renderBadge({ origin: originOf(labels) ?? 'live', ...activity(labels) });
}

function activity(fact: Shown<LabelsOverview>): Omit<Badge, 'origin'> {
  if (fact.kind !== 'served') {
    return { subject: 'label events', value: 'refused', kind: 'refused', note: refusalText(fact) };
  }
  const { envelope } = fact;
  const note = `${labelCoverageText(envelope)}, ${ageText(envelope)}`;
  if (!isRecent(envelope)) {
    return { subject: 'labelers known', value: countText(envelope.facts.labeler_count), kind: 'measured', note };
  }
  const { counts, coverage } = envelope.facts;
  // Until a whole day has been observed, the count covers only the time since the observation began.
  const subject = coverage.observed_days === 0 ? 'label events, less than 24 h' : 'label events, 24 h';
  return { subject, value: countText(counts.events_24h), kind: 'measured', note };
}
