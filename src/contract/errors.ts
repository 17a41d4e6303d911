import Type from 'typebox';
import { LabelFreshness } from './freshness.ts';
import { closed, word } from './schema.ts';

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
