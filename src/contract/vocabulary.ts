/** Closed vocabularies of the contract. A value outside its vocabulary is never published verbatim. */

/**
 * States of an instrument in the index (contract, "Instrument index"). PRESENT means that the artifact is readable; its
 * facts may still be refused.
 */
export const instrumentStates = ['PRESENT', 'UNAVAILABLE', 'NOT_PUBLISHED'] as const;

/** Freshness states of the label artifact, computed when the artifact is read. */
export const freshnessStates = ['fresh', 'warming_up', 'stale', 'held', 'unavailable'] as const;
/** Freshness state of the label artifact, computed when the artifact is read. */
export type FreshnessState = (typeof freshnessStates)[number];

/** Rules that can decide the freshness state of the label artifact. */
export const freshnessBases = ['artifact_generated_at', 'collection_observed_through'] as const;
/** Rule that decided the freshness state of the label artifact. */
export type FreshnessBasis = (typeof freshnessBases)[number];

/** Coverage states of labels. The absence of recorded gaps does not prove complete source coverage. */
export const coverageStatuses = ['warming_up', 'gapped', 'no_recorded_gaps', 'unknown'] as const;
/** Coverage state of labels. */
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

/**
 * Reasons why weather was not observed. `not_observed`: nothing arrived from the host. `silent`: the collection was
 * silent while others continued. `not_counted`: an earlier version of the program did not count the collection.
 * `never_seen`: the host has never sent an event of the collection.
 */
export const weatherGapReasons = ['not_observed', 'silent', 'not_counted', 'never_seen'] as const;
/** Reason why weather was not observed. */
export type WeatherGapReason = (typeof weatherGapReasons)[number];

/** Clocks on which the start of a label epoch is based. */
export const acquisitionBases = ['local_acceptance_clock'] as const;

/** Adequacy states of the legacy observation: whether the window supports the claim that something did not happen. */
export const adequacies = ['adequate', 'partial', 'unobserved'] as const;

/** Signals that the legacy label producer can publish. */
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

/** Published keys of the four maps in the legacy producer's census. */
export const censusKeys = {
  visibility_class: ['declared', 'protocol_public', 'observed_only', 'unresolved', 'unknown'],
  reachability_state: ['accessible', 'auth_required', 'down', 'unknown'],
  classification_confidence: ['high', 'medium', 'low', 'unknown'],
  auditability: ['high', 'medium', 'low', 'unknown'],
} as const;
export type CensusMap = keyof typeof censusKeys;

/**
 * Origins of an artifact's observations. For every origin except `live`, the first caveat of the fact is a fixed
 * sentence that names it.
 */
export const origins = ['live', 'simulated', 'sample'] as const;
/** Origin of an artifact's observations. */
export type Origin = (typeof origins)[number];

/**
 * Jetstream protocols: legacy `/subscribe`, and the method `network.bsky.jetstream.subscribeEvents`. They deliver
 * different events, so a series belongs to one host and one protocol.
 */
export const wires = ['jetstream.legacy', 'jetstream.subscribeEvents'] as const;
/** Jetstream protocol with which a host was read. */
export type Wire = (typeof wires)[number];

/** Methods by which observations were obtained. */
export const methods = ['label_stream_and_poll', 'legacy_label_poll', 'jetstream_windows'] as const;

/**
 * Names of the published weather collections. The window store refers to a collection by its index, so new names must
 * be appended at the end.
 */
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

/** Weather condition states. An unavailable state is never published as calm. */
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
/** State of the weather conditions. */
export type ConditionState = (typeof conditionStates)[number];

/** Confidence levels of a weather condition: how much history supports the comparison. */
export const confidences = ['supported', 'thin', 'unsupported'] as const;
/** Confidence level of a weather condition: how much history supports the comparison. */
export type Confidence = (typeof confidences)[number];

/** Freshness states of the weather artifact, computed by the instrument at `generated_at`. */
export const weatherFreshnessStates = ['current', 'partial', 'stale', 'unavailable'] as const;
/** Freshness state of the weather artifact, computed by the instrument at `generated_at`. */
export type WeatherFreshnessState = (typeof weatherFreshnessStates)[number];

/** Actions of an observation: a label was applied or removed. */
export const labelActions = ['application_observed', 'removal_observed'] as const;
/** Action of an observation: a label was applied or removed. */
export type LabelAction = (typeof labelActions)[number];

/** Kinds of a label's subject: the account itself, one of its posts, or another of its records. */
export const targetKinds = ['account', 'post', 'record'] as const;
/** Kind of a label's subject: the account itself, one of its posts, or another of its records. */
export type TargetKind = (typeof targetKinds)[number];

/**
 * Results of checking a label's signature. `verified_earlier_key`: the signature matches a key that the labeler had at
 * the label's `cts`, but not the current key. `unverified`: no key was available, or the signature is wrong for keys that
 * may be outdated.
 */
export const signatureVerdicts = ['verified', 'verified_earlier_key', 'invalid', 'unsigned', 'unverified'] as const;
/** Result of checking a label's signature. */
export type SignatureVerdict = (typeof signatureVerdicts)[number];

/** Closed vocabularies of the documents about labelers. A value outside its vocabulary is never published verbatim. */

/**
 * States of a labeler. The first eight are the states of an enrolled source, which the overview counts in
 * `coverage.sources`. `departed`: the labeler is no longer enrolled. `denied`: the operator refuses to read the
 * labeler.
 */
export const labelerStates = [
  'established',
  'probing',
  'unstarted',
  'refused',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
  'departed',
  'denied',
] as const;
/** State of a labeler. */
export type LabelerState = (typeof labelerStates)[number];

/**
 * Problems that prevent Almanac from reading a labeler, or from reading it completely. For each problem, the documents
 * have a sentence that explains the remedy to the labeler's operator.
 */
export const labelerProblems = [
  /** The endpoint requires authentication: 401 or 403. */
  'authentication_required',
  /** The endpoint in the DID document is not an https URL, or its host has a private address. */
  'endpoint_not_public',
  /** The DID has no document, or the document declares no labeler service. */
  'no_labeler_service',
  /** The endpoint responds with HTML, with invalid JSON, or with status 400, 404 or 501. */
  'not_a_label_service',
  /** The host name does not resolve. */
  'dns_failed',
  /** The TLS handshake fails, for example because the certificate has expired. */
  'tls_failed',
  /** The connection is refused or ends before a response. */
  'connection_failed',
  /** The endpoint does not respond in time. */
  'timed_out',
  /** The endpoint responds with 429. */
  'rate_limited',
  /** The endpoint responds with a server error. */
  'server_error',
  /** The pages of the endpoint do not prove that row ids increase with time. */
  'order_unverified',
  /** No label of the labeler has a usable date. */
  'labels_undated',
  /** Labels of the labeler were refused in the last 24 hours because of their form or content. */
  'labels_refused',
  /** The operator of this instrument denies the labeler. */
  'denied_by_operator',
  /** The labeler used up its daily allowance, so reading is paused until the next day. */
  'share_exceeded',
  /** The cause is not known, or a limit of the instrument that the labeler did not reach itself pauses its reading. */
  'unknown',
] as const;
/** Problem that prevents Almanac from reading a labeler completely. */
export type LabelerProblem = (typeof labelerProblems)[number];

/** Ways in which a labeler was found. */
export const discoveryWays = ['seeds', 'relay', 'jetstream', 'directory'] as const;
/** One way in which a labeler was found. */
export type DiscoveryWay = (typeof discoveryWays)[number];

/** Transports by which a labeler is read: `subscribeLabels` or `queryLabels`. */
export const readingTransports = ['stream', 'pages'] as const;
/** One transport by which a labeler is read. */
export type ReadingTransport = (typeof readingTransports)[number];

/** Published in place of the count of a label value if the count is below five. */
export const fewerThanFive = 'fewer_than_5';
