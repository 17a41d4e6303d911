import type { ObservatoryFacts } from './model.ts';

const names = {
  conditions: 'The weather conditions',
  metrics: 'Rates and totals',
  labels: 'The label overview',
} as const;

/** What changed between two states of the page that must be heard: facts that went, and facts that came back. */
export function changesSaid(before: ObservatoryFacts | null, now: ObservatoryFacts): string {
  if (!before) return '';
  return (['conditions', 'metrics', 'labels'] as const)
    .filter((name) => before[name].kind !== now[name].kind)
    .map((name) => `${names[name]}: ${kindWords[now[name].kind]}.`)
    .join(' ');
}

const kindWords = {
  served: 'shown again',
  refused: 'refused now, the numbers were taken away',
  unreached: 'no answer from the service, the numbers were taken away',
} as const;
