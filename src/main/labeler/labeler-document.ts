import { AnswerError, NetworkError } from '../../client/errors.ts';
import { type Answer, exchange } from '../../client/exchange.ts';
import { type LabelerEnvelope, labelerPaths } from '../../contract/labelers.ts';
import { shapeProblem } from './labeler-response.ts';
import { terminalText } from './terminal-text.ts';

/** Reason why no document can be shown. */
export interface LabelerFailure {
  readonly kind: 'refused' | 'unreachable' | 'unknown';
  /** Description for the terminal. */
  readonly why: string;
}

/** A labeler's document. */
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
}

/** Maximum size of a document in bytes: a line of the artifact and its definitions are far smaller. */
const maxBytes = 2 * 1024 * 1024;

/** Requests a labeler's document. A failure of the request or of the service is a result. */
export async function fetchLabeler(did: string, request: LabelerRequest): Promise<FoundLabeler | LabelerFailure> {
  const path = `${labelerPaths.one}${did}.json`;
  const { signal } = new AbortController();
  try {
    return read(await exchange({ ...request, path, etag: null, maxBytes, signal }), request.base);
  } catch (error) {
    if (error instanceof NetworkError) {
      const what = error.reason === 'timeout' ? 'did not respond in time' : 'cannot be reached';
      return { kind: 'unreachable', why: `${request.base} ${what}` };
    }
    if (error instanceof AnswerError) return notFacts(request.base, 'its response is too large or not UTF-8');
    throw error;
  }
}

function read({ status, text }: Answer, base: string): FoundLabeler | LabelerFailure {
  const body = parsed(text);
  if (status === 200) {
    const problem = shapeProblem(body);
    return problem === null
      ? { kind: 'document', document: body as LabelerEnvelope }
      : notFacts(base, `its response does not have the published shape: ${terminalText(problem)}`);
  }
  const error = errorOf(body);
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
