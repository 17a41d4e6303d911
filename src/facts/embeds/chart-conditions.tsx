import type { WeatherConditionsEnvelope } from '../../contract/envelope.ts';
import type { ConditionState } from '../../contract/vocabulary.ts';
import { currencyOf, isNow } from '../page/currency.ts';
import type { Shown } from '../page/model.ts';
import { confidenceText, scale } from '../page/words.ts';
import { innerWidth, left, Plate, refusedText, Section } from './chart-section.tsx';
import { conditionNames } from './conditions-badge.ts';
import { Line } from './image.tsx';
import { textWidth } from './text-width.ts';
import { ageText } from './texts.ts';

type Fact = Shown<WeatherConditionsEnvelope>;

/**
 * Draws the conditions as one step on a scale from quiet to busy, or the reason why there is no current measurement.
 */
export function ConditionsSection({ fact, y }: { fact: Fact; y: number }) {
  const state = currentState(fact);
  const note = fact.kind === 'served' ? ageText(fact.envelope) : undefined;
  return (
    <Section title="Conditions" y={y} {...(note === undefined ? {} : { note })}>
      {isMeasured(state) ? (
        <Scale state={state} y={y + 24} />
      ) : (
        <Plate text={stateText(fact)} paint={fact.kind === 'served' ? 'none' : 'refused'} y={y + 24} height={34} />
      )}
      {fact.kind === 'served' && isMeasured(state) ? (
        <Line x={left} y={y + 74} paint="soft">
          {confidenceOf(fact.envelope)}
        </Line>
      ) : null}
    </Section>
  );
}

/** Describes the conditions in a sentence. */
export function conditionsText(fact: Fact): string {
  const age = fact.kind === 'served' ? `, ${ageText(fact.envelope)}` : '';
  return `Conditions: ${stateText(fact)}${age}.`;
}

function currentState(fact: Fact): ConditionState | null {
  if (fact.kind !== 'served' || !isNow(currencyOf(fact.envelope))) return null;
  return fact.envelope.facts.conditions?.state ?? null;
}

function isMeasured(state: ConditionState | null): boolean {
  return scale.some((step) => step.state === state);
}

function stateText(fact: Fact): string {
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
  const room = (innerWidth - all) / scale.length;
  return { ...step, x: left + before + index * room, width: textWidth(step.word, 11, true) + room - 4 };
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
