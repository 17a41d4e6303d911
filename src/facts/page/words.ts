import type {
  CollectionName,
  ConditionState,
  Confidence,
  CoverageStatus,
  GapReason,
  SignalWord,
} from '../../contract/vocabulary.ts';

/** The contract's vocabulary in plain English. The texts contain no numbers: numbers come only from the facts. */

/** The states on the scale from less to more; the others have no measurement. */
export const scale: readonly { readonly state: ConditionState; readonly word: string }[] = [
  { state: 'lull', word: 'Lull' },
  { state: 'calm', word: 'Calm' },
  { state: 'active', word: 'Active' },
  { state: 'unsettled', word: 'Unsettled' },
  { state: 'turbulent', word: 'Turbulent' },
  { state: 'storm', word: 'Storm' },
  { state: 'severe_storm', word: 'Severe storm' },
];

/** Describes the amount of history behind a condition. */
export const confidenceText: Readonly<Record<Confidence, string>> = {
  supported: 'well supported: there are enough earlier days to compare with',
  thin: 'thin: there are few earlier days to compare with',
  unsupported: 'unsupported: there is not enough history to compare with',
};

/** Collections, in the order of the contract. */
export const collectionWords: Readonly<Record<CollectionName, string>> = {
  'post.create': 'Posts',
  'post.create.reply': 'of these, replies',
  'post.create.quote': 'of these, quotes',
  'post.delete': 'Posts deleted',
  'like.create': 'Likes',
  'like.delete': 'Likes taken back',
  'repost.create': 'Reposts',
  'repost.delete': 'Reposts taken back',
  'follow.create': 'Follows',
  'follow.delete': 'Unfollows',
  'block.create': 'Blocks',
  'block.delete': 'Blocks lifted',
  'listitem.create': 'Added to lists',
  'listitem.delete': 'Removed from lists',
  'profile.update': 'Profiles changed',
  'identity.event': 'Identity events',
  'account.event': 'Account events',
};

/** Describes the coverage status of the window. */
export const coverageText: Readonly<Record<CoverageStatus, string>> = {
  warming_up: 'The observation is younger than the window: earlier events were not observed.',
  gapped: 'There are recorded gaps, in which not everything was observed.',
  no_recorded_gaps: 'No gap is recorded. That does not prove that everything was observed.',
  unknown: 'The coverage of at least one labeler is unknown.',
};

/** Reasons of gaps. */
export const gapText: Readonly<Record<GapReason, string>> = {
  not_observed: 'before the observation began',
  source_unavailable: 'a labeler could not be reached',
  ingest_paused: 'collection was paused',
  cursor_reset: 'our position in a labeler’s stream was lost',
  maintenance: 'maintenance',
  warmup: 'warm-up',
  unknown: 'reason unknown',
};

/** Signals of the legacy producer. */
export const signalPhrases: Readonly<Record<SignalWord, string>> = {
  noisy: 'Noisy',
  conflicted: 'Conflicted',
  churny: 'Churny',
  degraded: 'Degraded',
  calm: 'Calm',
  unobserved: 'Unobserved',
  'under-observed': 'Under-observed',
};
