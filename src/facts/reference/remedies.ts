import {
  type AccountErrorCode,
  accountErrorTable,
  errorTable,
  type LabelerErrorCode,
  labelerErrorTable,
} from '../../contract/errors.ts';

/** Error code of any document in the reference. */
type AnyErrorCode = LabelerErrorCode | AccountErrorCode;

/** Status and message of every error in the documents, as clients receive them. */
export const allErrors: Readonly<Record<AnyErrorCode, { readonly status: number; readonly message: string }>> = {
  ...accountErrorTable,
  ...errorTable,
  ...labelerErrorTable,
};

/** Advice to clients for each error. */
export const errorRemedies: Readonly<Record<AnyErrorCode, string>> = {
  bad_request: 'Correct the request: an identical request would fail again.',
  not_found: 'Compare the path with this page: paths are exact, without a trailing slash or percent-encoding.',
  method_not_allowed: 'Use GET or HEAD.',
  request_timeout: 'Send the request again, on a new connection.',
  uri_too_long: 'Shorten the address: no path or query of this service is that long.',
  headers_too_large: 'Remove headers and cookies: no header is required.',
  internal_error: 'Try again after several minutes. Show that the fact is unknown until then.',
  source_unavailable:
    'Try again in a minute. Show that there is no reading; zero or an earlier reading would be wrong.',
  source_stale: 'Try again in a minute. error.freshness states the age and the maximum age.',
  source_held: 'Try again later: the operator must release the reading first. If the hold lasts, ask the operator.',
  asset_unavailable: 'Try again later. The operator must repair the installation.',
  unknown_labeler: 'Look the labeler up in /labelers.json.',
  invalid_account: 'Resolve the handle to its DID, and send the DID.',
  invalid_interval: 'Send either days, or both start and end.',
  unsupported_interval: 'Send exactly days=7 or days=30, or send start and end.',
  out_of_window: 'Request a part of the last 30 days that begins after acquisition.started_at.',
  invalid_filter: 'Correct or omit the filter.',
  unknown_parameter: 'Remove the parameter, or correct its name.',
  invalid_cursor: 'Create the export again, and send its cursor unchanged as the only parameter.',
  export_too_large: 'Create an export for each of the intervals in error.intervals.',
  snapshot_expired: 'Create the export again, and discard the pages read so far.',
  store_busy: 'Wait for the number of seconds in Retry-After, then send the request again.',
  store_behind: 'Wait for the number of seconds in Retry-After, or request an interval with an earlier end.',
  client_budget: 'Wait for the number of seconds in Retry-After, then send the request again.',
};

/** Returns true if the value is one of these error codes. */
export function isErrorCode(text: unknown): text is AnyErrorCode {
  return typeof text === 'string' && Object.hasOwn(allErrors, text);
}
