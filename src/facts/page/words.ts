import type { ConditionState, Confidence, CoverageStatus, GapReason, SignalWord } from '../../contract/vocabulary.ts';

/**
 * Plain English texts for the contract's vocabulary. They contain no numbers, because all numbers come from the facts.
 */

/** Condition states, ordered from quiet to busy. States without a measurement are not included. */
export const scale: readonly { readonly state: ConditionState; readonly word: string }[] = [
  { state: 'lull', word: 'Lull' },
  { state: 'calm', word: 'Calm' },
  { state: 'active', word: 'Active' },
  { state: 'unsettled', word: 'Unsettled' },
  { state: 'turbulent', word: 'Turbulent' },
  { state: 'storm', word: 'Storm' },
  { state: 'severe_storm', word: 'Severe storm' },
];

/** Descriptions of how much history supports a condition. */
export const confidenceText: Readonly<Record<Confidence, string>> = {
  supported: 'well supported: there are enough earlier days to compare with',
  thin: 'thin: there are few earlier days to compare with',
  unsupported: 'unsupported: there is not enough history to compare with',
};

/** Descriptions of the coverage states of the window. */
export const coverageText: Readonly<Record<CoverageStatus, string>> = {
  warming_up: 'The observation began after the start of the window: earlier events were not observed.',
  gapped: 'There are recorded gaps, in which not everything was observed.',
  no_recorded_gaps: 'No gap is recorded. That does not prove that everything was observed.',
  unknown: 'The coverage of at least one labeler is unknown.',
};

/** Descriptions of the reasons for gaps. */
export const gapText: Readonly<Record<GapReason, string>> = {
  not_observed: 'before the observation began, or not understood',
  source_unavailable: 'a labeler could not be reached',
  ingest_paused: 'collection was paused',
  cursor_reset: 'the position in a labeler’s stream was lost',
  maintenance: 'maintenance',
  warmup: 'warm-up',
  unknown: 'reason unknown',
};

/** Descriptions of the legacy producer's signals. */
export const signalPhrases: Readonly<Record<SignalWord, string>> = {
  noisy: 'Noisy',
  conflicted: 'Conflicted',
  churny: 'Churny',
  degraded: 'Degraded',
  calm: 'Calm',
  unobserved: 'Unobserved',
  'under-observed': 'Under-observed',
};
