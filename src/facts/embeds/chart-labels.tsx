import type { LabelsOverview } from '../../contract/envelope.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { countText } from '../../web/format.ts';
import { layTimeline, timelineWidth } from '../../web/timeline.ts';
import { isRecent, type RecentEnvelope, type Shown } from '../page/model.ts';
import { innerWidth, left, Plate, refusedText, Section } from './chart-section.tsx';
import { Hatched, Line } from './image.tsx';
import { ageText, labelCoverageText } from './texts.ts';

type Fact = Shown<LabelsOverview>;

/**
 * Draws the label events and the gaps of their window, or the reason for a refusal. An overview of the legacy producer
 * has no window.
 */
export function LabelsSection({ fact, y }: { fact: Fact; y: number }) {
  const title = 'Labels applied and removed';
  if (fact.kind !== 'served') {
    return (
      <Section title={title} y={y}>
        <Plate text={refusedText(fact)} paint="refused" y={y + 24} height={62} />
      </Section>
    );
  }
  const { envelope } = fact;
  return (
    <Section title={title} note={ageText(envelope)} y={y}>
      <Line x={left} y={y + 36} size={12}>
        {countsText(envelope)}
      </Line>
      {isRecent(envelope) ? <Window envelope={envelope} y={y + 48} /> : null}
      <Line x={left} y={y + 80} paint="soft">
        {`${labelCoverageText(envelope)}; hatched: not observed`}
      </Line>
    </Section>
  );
}

/** Describes the label events in a sentence. */
export function labelsText(fact: Fact): string {
  if (fact.kind !== 'served') return `Labels: ${refusedText(fact)}.`;
  const { envelope } = fact;
  return `Labels: ${countsText(envelope)}; ${labelCoverageText(envelope)}, ${ageText(envelope)}.`;
}

function countsText(envelope: LabelsOverview): string {
  if (!isRecent(envelope)) return `${countText(envelope.facts.labeler_count)} labelers known`;
  const { counts, window_days: days } = envelope.facts;
  const spans = [
    `${countText(counts.events_24h)} in 24 h`,
    `${countText(counts.events_7d)} in 7 days`,
    `${countText(counts.events_window)} in ${days} days`,
  ];
  return spans.join(', ');
}

/**
 * Draws the window as a timeline with its gaps and the time before the observation began. Draws nothing if the end of
 * the window is unknown.
 */
function Window({ envelope: { facts, generated_at: generatedAt }, y }: { envelope: RecentEnvelope; y: number }) {
  const end = milliseconds(generatedAt);
  if (end === null) return null;
  const { gaps, warmup } = facts.coverage;
  const unobserved = [...gaps, ...(warmup ? [warmup] : [])].flatMap((gap) => {
    const [from, to] = [milliseconds(gap.start), milliseconds(gap.end)];
    return from === null || to === null ? [] : [{ kind: 'gap' as const, start: from, end: to }];
  });
  const { parts, rest } = layTimeline({ start: end - facts.window_days * 86_400_000, end }, unobserved);
  const place = (at: number): number => left + (at / timelineWidth) * innerWidth;
  return (
    <>
      {rest.map(({ from, to }) => (
        <rect class="bar" x={place(from)} y={y} width={place(to) - place(from)} height="12" />
      ))}
      {parts.map(({ from, to }) => (
        <Hatched x={place(from)} y={y} width={place(to) - place(from)} height={12} />
      ))}
    </>
  );
}

function milliseconds(timestamp: string | null): number | null {
  const at = timestamp === null ? null : parseTimestamp(timestamp);
  return at === null ? null : Math.floor(at / 1000);
}
