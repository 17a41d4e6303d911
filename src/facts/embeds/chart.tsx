import type { ComponentChildren } from 'preact';
import type { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import type { CollectionName, ConditionState, Origin } from '../../contract/vocabulary.ts';
import { countText, rateText } from '../../web/format.ts';
import { Hatched } from '../../web/shapes.tsx';
import { collectionWords } from '../hours/shown-hours.ts';
import {
  conditionNames,
  confidenceText,
  currencyOf,
  isNow,
  isRecent,
  type ObservatoryFacts,
  originsShown,
  type RecentEnvelope,
  type Shown,
  scale,
} from '../shown-facts.ts';
import { layTimeline, timelineWidth } from '../timeline.ts';

import { ageText, labelCoverageText, networkNames, refusalText, weatherCoverageText } from './badge.tsx';
import { Line, Plate, plateArea, renderPlate, textWidth } from './image.tsx';

const height = 436;

/** Renders the chart of conditions, rates and label activity. The section of a refused fact shows the refusal. */
export function observatoryChart(facts: ObservatoryFacts): string {
  const [origin = 'live'] = originsShown(facts);
  const title = titles[origin];
  const description = [conditionsText(facts.conditions), ratesText(facts.metrics), labelsText(facts.labels)].join(' ');
  return renderPlate({
    ...{ title, origin, height, description },
    children: (
      <>
        <ConditionsSection fact={facts.conditions} y={40} />
        <RatesSection fact={facts.metrics} y={132} />
        <LabelsSection fact={facts.labels} y={338} />
      </>
    ),
  });
}

const titles: Readonly<Record<Origin, string>> = {
  live: `${networkNames.live}: what Almanac observed`,
  simulated: `${networkNames.simulated}: not an observation of the real one`,
  sample: `${networkNames.sample}: a bundled example`,
};

type ConditionsFact = Shown<WeatherConditionsEnvelope>;

/**
 * Draws the conditions as one step on a scale from quiet to busy, or the reason why there is no current measurement.
 */
function ConditionsSection({ fact, y }: { fact: ConditionsFact; y: number }) {
  const state = currentState(fact);
  const note = fact.kind === 'served' ? ageText(fact.envelope) : undefined;
  return (
    <Section title="Conditions" y={y} {...(note === undefined ? {} : { note })}>
      {isMeasured(state) ? (
        <Scale state={state} y={y + 24} />
      ) : (
        <Plate text={stateText(fact)} paint={fact.kind === 'served' ? 'absent' : 'refused'} y={y + 24} height={34} />
      )}
      {fact.kind === 'served' && isMeasured(state) ? (
        <Line x={plateArea.left} y={y + 74} paint="soft">
          {confidenceOf(fact.envelope)}
        </Line>
      ) : null}
    </Section>
  );
}

/** Describes the conditions in a sentence. */
function conditionsText(fact: ConditionsFact): string {
  const age = fact.kind === 'served' ? `, ${ageText(fact.envelope)}` : '';
  return `Conditions: ${stateText(fact)}${age}.`;
}

function currentState(fact: ConditionsFact): ConditionState | null {
  if (fact.kind !== 'served' || !isNow(currencyOf(fact.envelope))) return null;
  return fact.envelope.facts.conditions?.state ?? null;
}

function isMeasured(state: ConditionState | null): boolean {
  return scale.some((step) => step.state === state);
}

function stateText(fact: ConditionsFact): string {
  if (fact.kind !== 'served') return refusedText(fact);
  if (!isNow(currencyOf(fact.envelope))) return 'not current';
  const state = currentState(fact);
  if (state === null) return 'no conditions: absence of data, not calm';
  return isMeasured(state) ? conditionNames[state] : `${conditionNames[state]}: absence of a reading, not calm`;
}

function confidenceOf({ facts: { conditions } }: WeatherConditionsEnvelope): string {
  return conditions === null ? '' : `Confidence ${confidenceText[conditions.confidence]}.`;
}

/** Steps of the scale with their positions. Each step is as wide as its name requires. */
const steps = scale.map((step, index) => {
  const before = scale.slice(0, index).reduce((sum, { word }) => sum + textWidth(word, 11, true), 0);
  const all = scale.reduce((sum, { word }) => sum + textWidth(word, 11, true), 0);
  const room = (plateArea.width - all) / scale.length;
  return { ...step, x: plateArea.left + before + index * room, width: textWidth(step.word, 11, true) + room - 4 };
});

function Scale({ state, y }: { state: ConditionState | null; y: number }) {
  return (
    <>
      {steps.map(({ state: name, word, x, width }) => {
        const isCurrent = name === state;
        return (
          <>
            <rect class={isCurrent ? 'measured' : 'step'} x={x} y={y} width={width} height="34" rx="3" />
            <Line
              x={x + (width - textWidth(word, 11, isCurrent)) / 2}
              y={y + 21}
              paint={isCurrent ? 'on-measured' : 'soft'}
              isStrong={isCurrent}
            >
              {word}
            </Line>
          </>
        );
      })}
    </>
  );
}

type LabelsFact = Shown<LabelsOverview>;

/**
 * Draws the label events and the gaps of their window, or the reason for a refusal. An overview of the legacy producer
 * has no window.
 */
function LabelsSection({ fact, y }: { fact: LabelsFact; y: number }) {
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
      <Line x={plateArea.left} y={y + 36} size={12}>
        {countsText(envelope)}
      </Line>
      {isRecent(envelope) ? <Window envelope={envelope} y={y + 48} /> : null}
      <Line x={plateArea.left} y={y + 80} paint="soft">
        {`${labelCoverageText(envelope)}; hatched: not observed`}
      </Line>
    </Section>
  );
}

/** Describes the label events in a sentence. */
function labelsText(fact: LabelsFact): string {
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
  const place = (at: number): number => plateArea.left + (at / timelineWidth) * plateArea.width;
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

type RatesFact = Shown<WeatherMetricsEnvelope>;

/** Collections that the chart shows. They do not overlap. */
const drawn = [
  'like.create',
  'post.create',
  'repost.create',
  'follow.create',
  'block.create',
  'post.delete',
] as const satisfies readonly CollectionName[];

const nameWidth = 120;
const numberWidth = 90;
const barWidth = plateArea.width - nameWidth - numberWidth;
const rowHeight = 22;

/**
 * Draws the events per second by collection and the observed part of the window, or the reason why there are no current
 * rates.
 */
function RatesSection({ fact, y }: { fact: RatesFact; y: number }) {
  const title = 'Events per observed second';
  const plateHeight = drawn.length * rowHeight + 40;
  if (fact.kind !== 'served') {
    return (
      <Section title={title} y={y}>
        <Plate text={refusedText(fact)} paint="refused" y={y + 24} height={plateHeight} />
      </Section>
    );
  }
  const { envelope } = fact;
  return (
    <Section title={title} note={ageText(envelope)} y={y}>
      {isNow(currencyOf(envelope)) ? (
        <Rates envelope={envelope} y={y + 24} />
      ) : (
        <Plate text="not current" paint="absent" y={y + 24} height={plateHeight} />
      )}
    </Section>
  );
}

/** Describes the rates in a sentence. */
function ratesText(fact: RatesFact): string {
  if (fact.kind !== 'served') return `Events: ${refusedText(fact)}.`;
  const { envelope } = fact;
  if (!isNow(currencyOf(envelope))) return `Events: not current, ${ageText(envelope)}.`;
  const rates = drawn.map((name) => `${collectionWords[name]} ${rateOf(envelope, name)}`);
  const coverage = weatherCoverageText(envelope.facts.window);
  return `Events per observed second: ${rates.join(', ')}; ${coverage}, ${ageText(envelope)}.`;
}

function rateOf({ facts }: WeatherMetricsEnvelope, name: CollectionName): string {
  const entry = facts.collections[name] ?? null;
  if (entry === null) return 'not observed';
  return entry.mean_rate_per_s === null ? 'no rate' : rateText(entry.mean_rate_per_s);
}

function Rates({ envelope, y }: { envelope: WeatherMetricsEnvelope; y: number }) {
  const { collections, window } = envelope.facts;
  const most = Math.max(0, ...drawn.map((name) => collections[name]?.mean_rate_per_s ?? 0));
  const coverageAt = y + drawn.length * rowHeight + 6;
  return (
    <>
      {drawn.map((name, index) => {
        const rate = collections[name]?.mean_rate_per_s ?? null;
        const top = y + index * rowHeight;
        return (
          <>
            <Line x={plateArea.left} y={top + 13}>
              {collectionWords[name]}
            </Line>
            {rate === null ? (
              <Hatched x={plateArea.left + nameWidth} y={top + 3} width={barWidth} height={12} />
            ) : (
              <Bar x={plateArea.left + nameWidth} y={top + 3} width={barWidth} share={most === 0 ? 0 : rate / most} />
            )}
            <Line x={plateArea.left + plateArea.width} y={top + 13} anchor="end">
              {rateOf(envelope, name)}
            </Line>
          </>
        );
      })}
      <Hatched x={plateArea.left} y={coverageAt} width={plateArea.width} height={8} />
      <rect
        class="bar"
        x={plateArea.left}
        y={coverageAt}
        width={plateArea.width * share(window.coverage_ratio)}
        height="8"
      />
      <Line x={plateArea.left} y={coverageAt + 24} paint="soft">
        {`${weatherCoverageText(window)}; hatched: not observed`}
      </Line>
    </>
  );
}

function Bar({ x, y, width, share: part }: { x: number; y: number; width: number; share: number }) {
  return (
    <>
      <rect class="rail" x={x} y={y} width={width} height="12" />
      <rect class="bar" x={x} y={y} width={width * share(part)} height="12" />
    </>
  );
}

function share(ratio: number | null): number {
  return ratio === null ? 0 : Math.min(1, Math.max(0, ratio));
}

/** Draws a section: its title with a note on the right, and the content below. */
function Section({
  title,
  note,
  y,
  children,
}: {
  title: string;
  note?: string;
  y: number;
  children: ComponentChildren;
}) {
  return (
    <>
      <Line x={plateArea.left} y={y + 14} size={13} isStrong>
        {title}
      </Line>
      {note === undefined ? null : (
        <Line x={plateArea.right} y={y + 14} paint="soft" anchor="end">
          {note}
        </Line>
      )}
      {children}
    </>
  );
}

/** Describes the refusal of a fact. */
function refusedText(fact: Exclude<Shown<never>, { kind: 'served' }>): string {
  return `refused: ${refusalText(fact)}`;
}
