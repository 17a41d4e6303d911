import Type from 'typebox';
import { LabelFreshness } from './envelope.ts';
import { didInWords } from './identifiers.ts';
import { closed, count, timestamp, word } from './schema.ts';

/**
 * All errors of the facts API: one table of code, status and message. A message states the problem and the remedy. It
 * never contains a path, a query or a stack trace.
 */
export const errorTable = {
  bad_request: {
    status: 400,
    message: 'The request could not be understood as HTTP. Send a well-formed HTTP/1.1 request.',
  },
  not_found: {
    status: 404,
    message: 'No such path. See openapi.json below the base address for the paths of this service.',
  },
  method_not_allowed: { status: 405, message: 'This service is read-only. Use GET, HEAD or OPTIONS.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time. Send it again.' },
  uri_too_long: { status: 414, message: 'The request target is too long. No path of this service is that long.' },
  headers_too_large: { status: 431, message: 'The request headers are too large. Send fewer or smaller ones.' },
  internal_error: {
    status: 500,
    message: 'The service could not build the fact. Nothing may be concluded from this; try again later.',
  },
  source_unavailable: {
    status: 503,
    message:
      'There is no usable current reading from this instrument. This is absence of a reading, not proof that nothing was observed.',
  },
  source_stale: {
    status: 503,
    message:
      'The latest reading is older than the freshness bound allows. Do not use an earlier reading as current; try again later.',
  },
  source_held: {
    status: 503,
    message:
      "The instrument's operator is holding this reading back. Do not use an earlier reading as current; try again later.",
  },
  asset_unavailable: {
    status: 503,
    message: 'This document is not available now. The facts themselves are not affected.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

/** An error code of the facts API. */
export type ErrorCode = keyof typeof errorTable;

/** All error codes, in the order of the table. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/**
 * Error object of the facts API (contract, "Error object"). `freshness` is present only if a label artifact was read
 * but its facts are refused.
 */
export const ErrorBody = closed(
  {
    error: closed(
      {
        status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status, repeated.' }),
        code: word(errorCodes as readonly ErrorCode[], 'A code of a closed list.'),
        message: Type.String({ description: 'What happened and what to do, for people. Do not parse it.' }),
        freshness: Type.Optional(LabelFreshness),
      },
      { description: 'The refusal.' },
    ),
  },
  {
    title: 'Error',
    description: 'Clients preserve the error and never substitute zero counts or a prior reading.',
  },
);
export type ErrorBody = Type.Static<typeof ErrorBody>;

/** Returns the Error object for a code. */
export function errorBody(code: ErrorCode, freshness?: LabelFreshness): ErrorBody {
  const { status, message } = errorTable[code];
  return { error: { status, code, message, ...(freshness ? { freshness } : {}) } };
}

/** Errors of the documents about labelers: those of the facts API and one additional error. */

/** Errors that only the documents about labelers have. */
export const labelerErrorTable = {
  unknown_labeler: {
    status: 404,
    message:
      'This labeler is not in the list of labelers that Almanac follows or followed in the window. See labelers.json below the base address; its field "omitted" counts the labelers that are not listed.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

/** An error code of the documents about labelers. */
export type LabelerErrorCode = keyof typeof errorTable | keyof typeof labelerErrorTable;

/** Error object of the documents about labelers. */
export const LabelerErrorBody = closed(
  {
    error: closed(
      {
        status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status, repeated.' }),
        code: word([...errorCodes, 'unknown_labeler'] as readonly LabelerErrorCode[], 'A code of a closed list.'),
        message: Type.String({ description: 'What happened and what to do, for people. Do not parse it.' }),
        freshness: Type.Optional(LabelFreshness),
      },
      { description: 'The refusal.' },
    ),
  },
  { title: 'Error', description: 'Clients preserve the error and never substitute zero counts or a prior reading.' },
);
/** Error object of the documents about labelers. */
export type LabelerErrorBody = Type.Static<typeof LabelerErrorBody>;

/** Returns the Error object for a code. */
export function labelerErrorBody(code: LabelerErrorCode, freshness?: LabelFreshness): LabelerErrorBody {
  if (code !== 'unknown_labeler') return errorBody(code, freshness);
  return { error: { ...labelerErrorTable[code], code } };
}

const { bad_request, not_found, method_not_allowed, request_timeout, uri_too_long, headers_too_large } = errorTable;

/** All errors of the account-view API: one table of code, status and message. */
export const accountErrorTable = {
  bad_request,
  not_found,
  method_not_allowed,
  request_timeout,
  invalid_account: {
    status: 409,
    message: `did must be given once and be a DID: ${didInWords}. Resolve a handle to its DID first.`,
  },
  invalid_interval: {
    status: 409,
    message:
      'Send either days, or both start and end as RFC 3339 timestamps with a time zone. end must be later than start.',
  },
  unsupported_interval: { status: 409, message: 'days must be 7 or 30. Give start and end for another interval.' },
  out_of_window: {
    status: 409,
    message: 'No part of this interval is available: it is outside the last 30 days, or before acquisition began.',
  },
  invalid_filter: {
    status: 409,
    message:
      'A filter is invalid. labeler is a DID, value has at most 128 bytes, action is application_observed or removal_observed, target_kind is account, post or record. Each may occur only once.',
  },
  unknown_parameter: {
    status: 409,
    message: 'The query has a parameter that this path does not support. See openapi.json below the base address.',
  },
  invalid_cursor: {
    status: 409,
    message:
      'The cursor is not valid for this path. Send it unchanged as the only parameter, or create the export again.',
  },
  export_too_large: {
    status: 409,
    message:
      'The interval contains more rows than one export may have. Request each of the listed intervals instead; together they cover it.',
  },
  snapshot_expired: {
    status: 410,
    message:
      'This export has expired or its observations are no longer stored. Pages read so far are incomplete: start again.',
  },
  uri_too_long,
  headers_too_large,
  internal_error: {
    status: 500,
    message: 'The service could not answer. Nothing may be concluded from this; try again later.',
  },
  store_busy: {
    status: 503,
    message:
      'The observations cannot be read now. Nothing may be concluded from this; try again after Retry-After seconds.',
  },
  store_behind: {
    status: 503,
    message:
      'This server has not received the observations before the requested end yet. Try again after Retry-After seconds.',
  },
  client_budget: {
    status: 503,
    message:
      'This client has used up its allowance: the daily number of accounts, or the read time per minute. Try again after Retry-After seconds.',
  },
  asset_unavailable: {
    status: 503,
    message: 'This document is not available now. The service itself is not affected.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

/** An error code of the account-view API. The list is closed. */
export type AccountErrorCode = keyof typeof accountErrorTable;

/** All error codes of the account-view API, in the order of the table. */
export const accountErrorCodes = Object.keys(accountErrorTable) as AccountErrorCode[];

/** Part of an interval, small enough to fit into one export. */
export const FittingInterval = closed(
  {
    start: timestamp('Start, inclusive.'),
    end: timestamp('End, exclusive.'),
    rows: count("Number of the account's rows in the interval; with filters, an upper bound."),
  },
  { title: 'FittingInterval', description: 'A part of an interval that is small enough for one export.' },
);
/** Part of an interval, small enough to fit into one export. */
export type FittingInterval = Type.Static<typeof FittingInterval>;

/** Error object of the account-view API. `intervals` is present only with `export_too_large`. */
export const AccountErrorBody = closed(
  {
    error: closed(
      {
        status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status, repeated.' }),
        code: word(accountErrorCodes, 'A code of a closed list.'),
        message: Type.String({ description: 'What happened and what to do, for people. Do not parse it.' }),
        intervals: Type.Optional(
          Type.Array(FittingInterval, {
            description:
              'Adjacent intervals, in order, that each fit into one export and together cover the requested interval.',
          }),
        ),
      },
      { description: 'The refusal.' },
    ),
  },
  { title: 'Error', description: 'Clients preserve the error and never treat it as an account without labels.' },
);
/** Error object of the account-view API. */
export type AccountErrorBody = Type.Static<typeof AccountErrorBody>;

/** Returns the Error object for a code. `message` replaces the default message with a more specific one. */
export function accountErrorBody(
  code: AccountErrorCode,
  intervals?: readonly FittingInterval[],
  message: string = accountErrorTable[code].message,
): AccountErrorBody {
  const { status } = accountErrorTable[code];
  return { error: { status, code, message, ...(intervals ? { intervals: [...intervals] } : {}) } };
}
