/** Closed vocabularies of the labelers' documents. A value outside its vocabulary is never published verbatim. */

/**
 * States of a labeler. The first eight are the states of an enrolled source, which the overview counts
 * (`coverage.sources`). A labeler that left the enrolment has the state `departed`; one that the operator refuses to
 * read has the state `denied`.
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
/** One state of a labeler. */
export type LabelerState = (typeof labelerStates)[number];

/**
 * Problems that keep a labeler from being read, or from being read completely. Each has a sentence that tells the
 * labeler's operator what would fix it.
 */
export const labelerProblems = [
  /** The endpoint requires authentication: 401 or 403. */
  'authentication_required',
  /** The endpoint of the DID document is not an https address, or its host has a private address. */
  'endpoint_not_public',
  /** The DID has no document, or the document declares no labeler service. */
  'no_labeler_service',
  /** The endpoint responds with HTML, invalid JSON, or 400, 404 or 501. */
  'not_a_label_service',
  /** The host name does not resolve. */
  'dns_failed',
  /** The TLS handshake fails, such as for an expired certificate. */
  'tls_failed',
  /** The connection is refused or ends before a response. */
  'connection_failed',
  /** The endpoint does not respond in time. */
  'timed_out',
  /** The endpoint responds with 429. */
  'rate_limited',
  /** The endpoint responds with a server error. */
  'server_error',
  /** The pages of the endpoint do not prove that ids increase with time. */
  'order_unverified',
  /** No label of the labeler has a usable date. */
  'labels_undated',
  /** The operator of this instrument denies the labeler. */
  'denied_by_operator',
  /** The labeler exceeded its share of the day. */
  'share_exceeded',
  'unknown',
] as const;
/** One problem that keeps a labeler from being read. */
export type LabelerProblem = (typeof labelerProblems)[number];

/** Ways in which a labeler was found. */
export const discoveryWays = ['seeds', 'relay', 'jetstream', 'directory'] as const;
/** One way in which a labeler was found. */
export type DiscoveryWay = (typeof discoveryWays)[number];

/** Transports by which a labeler is read: `subscribeLabels` or `queryLabels`. */
export const readingTransports = ['stream', 'pages'] as const;
/** One transport by which a labeler is read. */
export type ReadingTransport = (typeof readingTransports)[number];

/** A count that is published only in part: a label value that was observed fewer than five times. */
export const fewerThanFive = 'fewer_than_5';
