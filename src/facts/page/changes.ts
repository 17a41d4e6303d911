import type { ObservatoryFacts } from './model.ts';

const names = {
  conditions: 'The weather conditions',
  metrics: 'Rates and totals',
  labels: 'The label overview',
} as const;

/**
 * Describes the facts whose outcome (served, refused or no response) differs from the earlier state of the page. Screen
 * readers announce this description. Returns an empty string if there is no earlier state.
 */
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
