import type { FactEnvelope } from '../contract/envelope.ts';
import { errorBody } from '../contract/errors.ts';
import { contractIds, type FactContractId } from '../contract/identifiers.ts';
import { bucketSeconds } from '../contract/limits.ts';
import type { ObservatoryFacts, Shown } from './page/model.ts';
import type { Outcome } from './resources.ts';

/** Outcomes of the three fact endpoints at one instant. */
export interface FactOutcomes {
  readonly conditions: Outcome;
  readonly metrics: Outcome;
  readonly labels: Outcome;
}

/** Renders the facts at the time `now` (milliseconds since 1970). */
type Render<V> = (facts: ObservatoryFacts, outcomes: FactOutcomes, now: number) => V;

/**
 * Creates a function that renders the three facts and caches the result until the artifact or age bucket of a fact
 * changes. A refusal is rendered again every minute, because the ages in it change. `marksAt` returns identifiers of
 * everything else that the result depends on.
 */
export function keepPerOutcomes<V>(
  render: Render<V>,
  marksAt: (now: number, outcomes: FactOutcomes) => readonly unknown[] = () => [],
) {
  let kept: { marks: readonly unknown[]; builtAt: number; value: V } | undefined;
  return (outcomes: FactOutcomes, now: number): V => {
    const facts = [outcomes.conditions, outcomes.metrics, outcomes.labels].map(markOf);
    const marks = [...facts, ...marksAt(now, outcomes)];
    const known = kept;
    // Render again if the clock was set back, because a response must not contain future times.
    if (known && now >= known.builtAt && marks.every((mark, at) => mark === known.marks[at])) return known.value;
    const value = render(shownFacts(outcomes), outcomes, now);
    kept = { marks, builtAt: now, value };
    return value;
  };
}

/** Returns an identifier of an outcome's content. Outcomes with equal identifiers are rendered equally. */
function markOf(outcome: Outcome): unknown {
  if (outcome.kind === 'served') return outcome.representation;
  const { state, basis, age_seconds: age, collection_age_seconds: collectionAge } = outcome.freshness ?? {};
  return [outcome.code, outcome.origin, state, basis, minutes(age), minutes(collectionAge)].join(' ');
}

function minutes(age: number | null | undefined): number | undefined {
  return age === null || age === undefined ? undefined : Math.floor(age / bucketSeconds);
}

function shownFacts({ conditions, metrics, labels }: FactOutcomes): ObservatoryFacts {
  return {
    conditions: shown(conditions, contractIds.weatherConditions),
    metrics: shown(metrics, contractIds.weatherMetrics),
    labels: shown(labels, contractIds.labelsOverview),
  };
}

function shown<C extends FactContractId>(outcome: Outcome, contract: C): Shown<Extract<FactEnvelope, { contract: C }>> {
  if (outcome.kind === 'refused') {
    const { code, freshness, origin } = outcome;
    return { kind: 'refused', error: errorBody(code, freshness).error, ...(origin ? { origin } : {}) };
  }
  const { envelope } = outcome.representation;
  if (!isOf(envelope, contract)) throw new Error('the envelope of a fact has the wrong contract');
  return { kind: 'served', envelope };
}

function isOf<C extends FactContractId>(
  envelope: FactEnvelope,
  contract: C,
): envelope is Extract<FactEnvelope, { contract: C }> {
  return envelope.contract === contract;
}
