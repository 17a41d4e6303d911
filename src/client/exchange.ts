import { readBody } from './body.ts';
import { AnswerError, NetworkError } from './errors.ts';

/** Parameters of one request for one path. */
export interface Question {
  readonly fetch: typeof globalThis.fetch;
  readonly base: string;
  readonly path: string;
  /** Entity tag of the cached response, sent back verbatim; null if there is no tag to send. */
  readonly etag: string | null;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Credentials mode of the request; default `omit`, because the service requires no credentials. */
  readonly credentials?: RequestCredentials;
  readonly signal: AbortSignal;
}

/** A complete response within the limits. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends one request. Throws NetworkError if no complete response arrives in time, AnswerError if the response is too
 * large or not UTF-8, and the signal's reason if the signal is aborted.
 */
export async function exchange(question: Question): Promise<Answer> {
  const { path, signal, timeoutMs } = question;
  const stop = new AbortController();
  const given = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', given, { once: true });
  const late = setTimeout(() => stop.abort(new NetworkError(path, 'timeout')), timeoutMs);
  try {
    signal.throwIfAborted();
    return await whole(question, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    if (error instanceof AnswerError) throw error;
    throw new NetworkError(path, 'unreachable', { cause: error });
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', given);
  }
}

async function whole(
  { fetch, base, path, etag, maxBytes, credentials = 'omit' }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (etag !== null) headers['If-None-Match'] = etag;
  const response = await fetch(base + path, { headers, signal, credentials });
  const { status } = response;
  const bytes = await readBody(response, maxBytes);
  if (bytes === null) throw new AnswerError(path, status, `the response is larger than ${maxBytes} bytes`);
  try {
    return { status, headers: response.headers, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw new AnswerError(path, status, 'the response is not UTF-8');
  }
}
