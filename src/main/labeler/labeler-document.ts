import type Type from 'typebox';
import { Compile } from 'typebox/compile';
import { AnswerError, NetworkError } from '../../client/errors.ts';
import { type Answer, exchange } from '../../client/exchange.ts';
import { cacheLifetimeMs } from '../../client/headers.ts';
import { type Dated, describeStaleness, ReceiptJudge, ServiceClock } from '../../client/staleness.ts';
import { isDid } from '../../contract/identifiers.ts';
import { LabelerEnvelope, labelerPaths } from '../../contract/labelers.ts';
import { terminalText } from '../terminal-text.ts';

/** Reason why no document can be shown. */
export interface LabelerFailure {
  readonly kind: 'refused' | 'unreachable' | 'unknown';
  /** Description of the reason, for the terminal. */
  readonly why: string;
}

/** A labeler's document as the service returned it. */
interface FoundLabeler {
  readonly kind: 'document';
  readonly document: LabelerEnvelope;
}

/** Dependencies of a request for a document. */
export interface LabelerRequest {
  /** Base address of a facts service, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Maximum size of a document, in bytes. A line of the artifact with its definitions is far smaller. */
const maxBytes = 2 * 1024 * 1024;

/** Maximum size of the list of labelers, in bytes. It is enough for thousands of labelers. */
const maxListBytes = 16 * 1024 * 1024;

/** Requests a labeler's document. Never rejects: a failed request is returned as a LabelerFailure. */
export async function fetchLabeler(did: string, request: LabelerRequest): Promise<FoundLabeler | LabelerFailure> {
  const answer = await asked(`${labelerPaths.one}${did}.json`, maxBytes, request);
  return 'kind' in answer ? answer : read(answer, request);
}

/**
 * Looks up a handle in the service's list. Resolves with the DID of the only labeler for which the handle is confirmed,
 * or with the reason why there is no such labeler. `handle` is in lower case.
 */
export async function findLabeler(handle: string, request: LabelerRequest): Promise<string | LabelerFailure> {
  const answer = await asked(labelerPaths.list, maxListBytes, request);
  if ('kind' in answer) return answer;
  const body = answer.status === 200 ? parsed(answer.text) : null;
  const expired = expiry(body, answer.headers, labelerPaths.list, request);
  if (expired !== null) return expired;
  const labelers = listIn(body);
  if (labelers === null)
    return answer.status === 200 ? notFacts(request.base, 'it has no list of labelers') : failure(answer, request.base);
  const named = labelers.filter(({ name }) => name === handle);
  const [confirmed, ...more] = named.filter((one) => one.confirmed);
  if (confirmed !== undefined && more.length === 0) return confirmed.did;
  return { kind: 'unknown', why: ambiguity(handle, named) };
}

/** Returns the reason why a handle does not identify a labeler. `named` contains the labelers with this handle. */
function ambiguity(handle: string, named: readonly Named[]): string {
  if (named.length === 0) {
    return `no labeler of the service has the handle ${handle}; /labelers of the service lists all of them`;
  }
  const confirmed = named.filter((one) => one.confirmed);
  const dids = (confirmed.length === 0 ? named : confirmed).map(({ did }) => did).join(', ');
  const why = confirmed.length === 0 ? `claimed by ${dids} but not confirmed` : `confirmed for each of ${dids}`;
  return `the handle ${handle} is ${why}; give the DID instead of the handle`;
}

/** An entry of the service's list: a labeler with a handle. */
interface Named {
  readonly did: string;
  readonly name: string;
  readonly confirmed: boolean;
}

/** Returns the labelers with a handle in a response, or null if the response contains no list of labelers. */
function listIn(body: unknown): readonly Named[] | null {
  const labelers = isRecord(body) && isRecord(body.facts) ? body.facts.labelers : null;
  if (!Array.isArray(labelers)) return null;
  return labelers.flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.did !== 'string' || !isDid(one.did) || !isRecord(one.handle)) return [];
    const { name, confirmed } = one.handle;
    return typeof name === 'string' ? [{ did: one.did, name: name.toLowerCase(), confirmed: confirmed === true }] : [];
  });
}

async function asked(path: string, bytes: number, request: LabelerRequest): Promise<Answer | LabelerFailure> {
  const { signal } = new AbortController();
  try {
    return await exchange({ ...request, path, etag: null, maxBytes: bytes, signal });
  } catch (error) {
    if (error instanceof NetworkError) {
      const what = error.reason === 'timeout' ? 'did not respond in time' : 'cannot be reached';
      return { kind: 'unreachable', why: `${request.base} ${what}; --facts URL selects another service` };
    }
    if (error instanceof AnswerError) return notFacts(request.base, 'its response is too large or not UTF-8');
    throw error;
  }
}

function read(answer: Answer, request: LabelerRequest): FoundLabeler | LabelerFailure {
  const { base } = request;
  if (answer.status !== 200) return failure(answer, base);
  const body = parsed(answer.text);
  const problem = shapeProblem(body);
  if (problem !== null) {
    return notFacts(base, `its response does not have the published shape: ${terminalText(problem)}`);
  }
  return (
    expiry(body, answer.headers, labelerPaths.one, request) ?? { kind: 'document', document: body as LabelerEnvelope }
  );
}

/** Returns the failure of a response that a cache repeated although it has expired; null for any other response. */
function expiry(body: unknown, headers: Headers, path: string, { base, clock }: LabelerRequest): LabelerFailure | null {
  if (!isRecord(body)) return null;
  const judge = new ReceiptJudge(new ServiceClock(), true);
  const staleness = judge.staleness(body as Dated, headers, cacheLifetimeMs(headers), clock());
  return staleness === null ? null : { kind: 'refused', why: describeStaleness(base + path, staleness) };
}

/** Converts an error response to the failure that it states. */
function failure({ status, text }: Answer, base: string): LabelerFailure {
  const error = errorOf(parsed(text));
  if (error === null) return notFacts(base, `it responds with the status ${status}`);
  const kind = error.code === 'unknown_labeler' ? 'unknown' : 'refused';
  return { kind, why: `${terminalText(error.message)} (${terminalText(error.code)})` };
}

function notFacts(base: string, why: string): LabelerFailure {
  return { kind: 'refused', why: `${base} is not a facts service with documents about labelers: ${why}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function errorOf(body: unknown): { readonly code: string; readonly message: string } | null {
  const error = isRecord(body) ? body.error : null;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') return null;
  return { code: error.code, message: error.message };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the first place at which a response deviates from the schema of a labeler's document, or null if the response
 * matches.
 */
export function shapeProblem(value: unknown): string | null {
  const validator = Compile(opened(LabelerEnvelope));
  if (validator.Check(value)) return null;
  const [error] = validator.Errors(value);
  return `${error?.instancePath || '/'} ${error?.message ?? 'does not match'}`;
}

/**
 * Returns a copy of the schema that also accepts unknown fields, because a later version of the service may add
 * fields.
 */
function opened(schema: object): Type.TSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' ? undefined : value));
  return JSON.parse(text) as Type.TSchema;
}
