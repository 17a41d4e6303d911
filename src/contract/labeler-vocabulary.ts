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
  /** At least a tenth of the labeler's labels of the last 24 hours was refused because of their form or content. */
  'labels_refused',
  /** The operator of this instrument denies the labeler. */
  'denied_by_operator',
  /** The labeler used up its daily allowance, so reading is paused until the next day. */
  'share_exceeded',
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
