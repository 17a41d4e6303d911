import type { ObservatoryFacts } from './model.ts';

const names = {
  conditions: 'The weather conditions',
  metrics: 'Rates and totals',
  labels: 'The label overview',
} as const;

/** Describes, for an announcement, which facts were removed and which returned between two states of the page. */
export function describeChanges(before: ObservatoryFacts | null, now: ObservatoryFacts): string {
  if (!before) return '';
  return (['conditions', 'metrics', 'labels'] as const)
    .filter((name) => before[name].kind !== now[name].kind)
    .map((name) => `${names[name]}: ${kindWords[now[name].kind]}.`)
    .join(' ');
}

const kindWords = {
  served: 'shown again',
  refused: 'now refused; the numbers were removed',
  unreached: 'no response from the service; the numbers were removed',
} as const;
