import { AnswerError, NetworkError } from '../client/errors.ts';
import { type Answer, exchange } from '../client/exchange.ts';
import { retryAfterSeconds } from '../client/headers.ts';
import { accountPaths } from '../contract/account.ts';
import { createBackoff } from '../network/websocket/backoff.ts';
import { describeCode, systemCode } from '../ops/errors.ts';
import { parseRefusal, type Refusal } from './answers.ts';
import { ExportFailure } from './failure.ts';

/** Options for requests to an account-view service. */
export interface ServiceOptions {
  /** Base address of an account-view surface, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  /** Timeout of one complete response, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum time without a usable response, in milliseconds. */
  readonly giveUpMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Resolves after a number of milliseconds; rejects when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called before each retry with the reason and the delay in milliseconds. */
  readonly waiting: (why: string, milliseconds: number) => void;
  /** Aborts all requests; pending calls reject with the signal's reason. */
  readonly signal: AbortSignal;
}

/** A usable response: the body of a successful response, or an error that a retry would not resolve. */
type ServiceReply =
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'refusal'; readonly refusal: Refusal };

/** Maximum size of a response in bytes; far above the size of a page of 500 rows with its manifest. */
const maxBytes = 32 * 1024 * 1024;
/** HTTP statuses after which a request is retried. */
const transient = [429, 502, 503, 504];

/**
 * Requests `/exports`. Retries if the service does not respond or is busy: after the delay that `Retry-After` states, or
 * else after a random delay whose maximum doubles. Rejects with ExportFailure: `unreachable` after the time limit,
 * `refused` if the address is not an account-view service, and `damaged` for a response that is too large or not UTF-8.
 */
export async function askExports(
  query: Readonly<Record<string, string>>,
  options: ServiceOptions,
): Promise<ServiceReply> {
  const { clock, giveUpMs, wait, waiting, signal, random } = options;
  const backoff = createBackoff({ firstMs: 1000, capMs: 30_000, random });
  const since = clock();
  for (;;) {
    const outcome = await once(`${accountPaths.exports}?${new URLSearchParams(query)}`, options);
    if (outcome.kind !== 'nothing') return outcome;
    const { retryAfterMs } = outcome;
    const waitMs = retryAfterMs > 0 ? retryAfterMs : 100 + backoff.next();
    if (clock() - since + waitMs > giveUpMs) {
      const later = retryAfterMs > 0 ? `; retry in ${retryAfterMs / 1000} s` : '';
      throw new ExportFailure(
        'unreachable',
        `${outcome.why}; gave up: another attempt would exceed the limit of ${giveUpMs / 1000} s${later}`,
      );
    }
    waiting(outcome.why, waitMs);
    await wait(waitMs, signal);
  }
}

type Nothing = { readonly kind: 'nothing'; readonly why: string; readonly retryAfterMs: number };

async function once(
  path: string,
  { base, fetch, timeoutMs, clock, signal }: ServiceOptions,
): Promise<ServiceReply | Nothing> {
  let answer: Answer;
  try {
    answer = await exchange({ base, path, fetch, timeoutMs, maxBytes, signal, etag: null });
  } catch (error) {
    if (error instanceof NetworkError) return { kind: 'nothing', why: noAnswer(error), retryAfterMs: 0 };
    if (error instanceof AnswerError)
      throw new ExportFailure('damaged', 'the service sent a response that is too large or not valid UTF-8');
    throw error;
  }
  const { status, headers, text } = answer;
  if (status === 200) return { kind: 'body', text };
  // Every account-view service has the path `/exports`, so the server is not such a service, or the base path is
  // wrong.
  if (status === 404) throw noService(`responds with status ${status}`);
  const refusal = parseRefusal(status, text);
  if (transient.includes(status)) {
    const why = refusal ? `the service is busy (${refusal.code})` : `a proxy responds with status ${status}`;
    return { kind: 'nothing', why, retryAfterMs: (retryAfterSeconds(headers, clock()) ?? 0) * 1000 };
  }
  if (refusal) return { kind: 'refusal', refusal };
  throw noService(`responds with status ${status}`);
}

/** Returns the failure for an address that is not an account-view service. */
export function noService(does: string): ExportFailure {
  return new ExportFailure(
    'refused',
    `the address ${does}, so it is not an account-view service; set the URL of an account-view service with --from`,
  );
}

function noAnswer({ reason, cause }: NetworkError): string {
  if (reason === 'timeout') return 'the service does not respond in time';
  const code = systemCode(cause instanceof Error ? cause.cause : cause);
  return `the service cannot be reached${code === null ? '' : `: ${describeCode(code)}`}`;
}
