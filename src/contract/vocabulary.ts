/** The closed vocabularies of the contract. A value outside its vocabulary is never published verbatim. */

/** Instrument index states (contract, "Instrument index"). PRESENT means readable, not servable. */
export const instrumentStates = ['PRESENT', 'UNAVAILABLE', 'NOT_PUBLISHED'] as const;

/** Freshness states of the label artifact, decided when it is read. */
export const freshnessStates = ['fresh', 'warming_up', 'stale', 'held', 'unavailable'] as const;
export type FreshnessState = (typeof freshnessStates)[number];

/** The rule that decided a label freshness state. */
export const freshnessBases = ['artifact_generated_at', 'collection_observed_through'] as const;
export type FreshnessBasis = (typeof freshnessBases)[number];

/** Label coverage status. No recorded gaps does not prove complete source coverage. */
export const coverageStatuses = ['warming_up', 'gapped', 'no_recorded_gaps', 'unknown'] as const;
export type CoverageStatus = (typeof coverageStatuses)[number];

/** Reasons why a part of the window was not observed (warm-up and gaps). */
export const gapReasons = [
  'not_observed',
  'source_unavailable',
  'ingest_paused',
  'cursor_reset',
  'maintenance',
  'warmup',
  'unknown',
] as const;
export type GapReason = (typeof gapReasons)[number];

/** Basis of a label epoch's start. */
export const acquisitionBases = ['local_acceptance_clock'] as const;

/** Adequacy of the legacy observation: whether the window supports a negative claim. */
export const adequacies = ['adequate', 'partial', 'unobserved'] as const;

/** Signals of the legacy label network. */
export const networkSignals = [
  'noisy',
  'conflicted',
  'churny',
  'degraded',
  'calm',
  'unobserved',
  'under-observed',
] as const;
export type SignalWord = (typeof networkSignals)[number];

/** Keys of the legacy census's four maps. */
export const censusKeys = {
  visibility_class: ['declared', 'protocol_public', 'observed_only', 'unresolved', 'unknown'],
  reachability_state: ['accessible', 'auth_required', 'down', 'unknown'],
  classification_confidence: ['high', 'medium', 'low', 'unknown'],
  auditability: ['high', 'medium', 'low', 'unknown'],
} as const;
export type CensusMap = keyof typeof censusKeys;

/** Origins of an artifact's observations; a fixed first caveat names any origin except `live`. */
export const origins = ['live', 'simulated', 'sample'] as const;
export type Origin = (typeof origins)[number];

/**
 * Jetstream's protocols: legacy `/subscribe`, and the method `network.bsky.jetstream.subscribeEvents`. They deliver
 * different events, so a series belongs to one host and one wire.
 */
export const wires = ['jetstream.legacy', 'jetstream.subscribeEvents'] as const;
export type Wire = (typeof wires)[number];

/** Methods by which a fact was obtained. */
export const methods = ['label_stream_and_poll', 'legacy_label_poll', 'jetstream_windows'] as const;

/** Published weather collections, by name. Append further ones: the window store refers to them by their index. */
export const collectionNames = [
  'post.create',
  'post.create.reply',
  'post.create.quote',
  'post.delete',
  'like.create',
  'like.delete',
  'repost.create',
  'repost.delete',
  'follow.create',
  'follow.delete',
  'block.create',
  'block.delete',
  'listitem.create',
  'listitem.delete',
  'profile.update',
  'identity.event',
  'account.event',
] as const;
export type CollectionName = (typeof collectionNames)[number];

/** Weather condition states. The unavailable ones never turn into calm. */
export const conditionStates = [
  'station_offline',
  'unavailable',
  'lull',
  'calm',
  'active',
  'unsettled',
  'turbulent',
  'storm',
  'severe_storm',
] as const;
/** A weather condition state. */
export type ConditionState = (typeof conditionStates)[number];

/** Amount of history behind a weather condition. */
export const confidences = ['supported', 'thin', 'unsupported'] as const;
/** Amount of history behind a weather condition. */
export type Confidence = (typeof confidences)[number];

/** Weather freshness as the instrument judged it at `generated_at`. */
export const weatherFreshnessStates = ['current', 'partial', 'stale', 'unavailable'] as const;
/** Weather freshness as the instrument judged it. */
export type WeatherFreshnessState = (typeof weatherFreshnessStates)[number];

/** Actions of an observation: a label was applied or removed. */
export const labelActions = ['application_observed', 'removal_observed'] as const;
/** Action of an observation. */
export type LabelAction = (typeof labelActions)[number];

/** Kinds of a label's subject: the account itself, one of its posts, or another of its records. */
export const targetKinds = ['account', 'post', 'record'] as const;
/** Kind of a label's subject. */
export type TargetKind = (typeof targetKinds)[number];

/**
 * Results of checking a label's signature. `verified_earlier_key`: a key that the labeler had at the label's `cts`
 * matches, but the current one does not. `unverified`: no key was available.
 */
export const signatureVerdicts = ['verified', 'verified_earlier_key', 'invalid', 'unsigned', 'unverified'] as const;
/** Result of checking a label's signature. */
export type SignatureVerdict = (typeof signatureVerdicts)[number];
