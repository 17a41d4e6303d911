import type { Origin } from '../contract/vocabulary.ts';

/**
 * Fixed caveats: they state what each instrument cannot observe in principle. The artifact's own caveats follow them.
 */

/** First caveat of facts whose origin is not `live`, by origin. */
export const originCaveats: Record<Exclude<Origin, 'live'>, string> = {
  simulated: 'These facts come from a simulated network. They say nothing about the real one.',
  sample: 'These facts come from a bundled sample. They say nothing about the network now.',
};

const labelCaveats = {
  recent: [
    'Observed application and removal events do not establish which labels are active now.',
    'Having no observations does not mean that no labels exist.',
    'Windows run on the local acceptance clock: nothing before acquisition.started_at was observed.',
    'The absence of recorded gaps does not prove complete source coverage.',
  ],
  legacy: [
    'Observed application and removal events do not establish which labels are active now.',
    'Having no observations does not mean that no labels exist.',
    'A quiet result with supports_negative_claim false means that too little was observed to conclude that nothing happened.',
    'top_labelers_7d ranks labelers by alerts, not by label volume: this producer counts alerts.',
  ],
} as const;

const weatherCaveats = [
  'Counts cover what one stream host delivered to one observer. They are never an estimate of what occurred.',
  'Rates divide by observed time; unobserved time is omitted, never interpolated.',
  'Events are counted, not accounts: participant turnover is unavailable by construction.',
  'A re-delivery under a new position cannot be distinguished from a new event.',
  'The instrument computed the freshness at generated_at: add age_seconds to get the age now.',
] as const;

const aheadCaveat = "generated_at is ahead of this service's clock: one of the two clocks is wrong.";

function ofOrigin(origin: Origin): string[] {
  return origin === 'live' ? [] : [originCaveats[origin]];
}

/**
 * Returns the caveats of the rolling epoch: first the caveat of an origin other than `live`, then the fixed caveats,
 * then the artifact's own.
 */
export function recentLabelCaveats(origin: Origin, own: readonly string[]): string[] {
  return [...ofOrigin(origin), ...labelCaveats.recent, ...own];
}

/** Returns the caveats of the legacy label producer. */
export function legacyLabelCaveats(): string[] {
  return [...labelCaveats.legacy];
}

/**
 * Returns the caveats of either weather producer: first the caveat of an origin other than `live`, then the fixed
 * caveats, then the artifact's own. `ahead` is true if `generated_at` is in the future; a caveat about the clocks then
 * follows the fixed caveats.
 */
export function weatherCaveatsFor(origin: Origin, ahead: boolean, own: readonly string[]): string[] {
  return [...ofOrigin(origin), ...weatherCaveats, ...(ahead ? [aheadCaveat] : []), ...own];
}
