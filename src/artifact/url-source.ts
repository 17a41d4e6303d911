import { readBody } from '../client/body.ts';
import { cacheLifetimeMs } from '../client/headers.ts';
import { clockToleranceMs } from '../client/staleness.ts';
import { systemCode, systemWords } from '../ops/errors.ts';
import { createPoller, type Poller } from '../ops/poller.ts';
import { serviceFetch } from '../ops/service-fetch.ts';
import { type ArtifactSource, decodeArtifact, type Reading, type Recogniser } from './reading.ts';

/** Options for a URL source; all times in milliseconds. */
interface UrlSourceOptions<A> {
  /** Address of the artifact, chosen by the operator: `http:` or `https:`. */
  readonly url: URL;
  /** `User-Agent` of every request. */
  readonly userAgent: string;
  readonly recognise: Recogniser<A>;
  /** Returns true if the instrument's operator holds the artifact back; absent for artifacts without a hold. */
  readonly isHeld?: (artifact: A) => boolean;
  readonly maxBytes: number;
  readonly pollMs: number;
  /** Timeout of a whole response, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Grace period in milliseconds. While the URL cannot be reached, the last reading stays valid for this time, with its
   * true age; afterwards the artifact is unreadable.
   */
  readonly graceMs: number;
  /** Maximum time for which `start` waits for the first response, in milliseconds. */
  readonly firstAnswerMs: number;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Monotonic clock in milliseconds, by which the grace period and the time of a hold are measured. */
  readonly monotonic: () => number;
  /** Called with the first reading and with every change, for the log. */
  readonly observe?: (reading: Reading<A>) => void;
}

/** Time after the last held copy for which copies from before the hold are not read, in milliseconds. */
const holdMs = 15 * 60_000;

/** Result of one conditional request for an artifact. */
export type ArtifactResponse =
  | { kind: 'bytes'; bytes: Buffer; modifiedAt: number | null; validators: Headers }
  | { kind: 'unchanged' }
  | { kind: 'gone' }
  | { kind: 'too_large' }
  | { kind: 'unreachable'; why: string };

/**
 * The source of an artifact at a URL, which is polled with conditional requests. A request for a fact never waits for the
 * URL: the source returns the last reading, with its age.
 */
export class UrlSource<A> implements ArtifactSource<A> {
  readonly #options: UrlSourceOptions<A>;
  readonly #stopping = new AbortController();
  #reading: Reading<A> = { kind: 'unreadable', why: 'the server has not responded yet' };
  #bytes: Buffer | null = null;
  #validators: Headers | null = null;
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  /** Modification time of the last held artifact, and the monotonic time of its last arrival; null before the first. */
  #hold: { readonly modifiedAt: number; readonly at: number } | null = null;
  readonly #poller: Poller;

  constructor(options: UrlSourceOptions<A>) {
    this.#options = options;
    this.#poller = createPoller({
      poll: () => this.#poll(),
      pollMs: options.pollMs,
      firstMs: options.firstAnswerMs,
      signal: this.#stopping.signal,
    });
  }

  read(): Reading<A> {
    const { monotonic, graceMs } = this.#options;
    // Apply the grace period even while a poll hangs: an old artifact must not remain current without a response.
    if (this.#reading.kind === 'readable' && monotonic() - this.#lastAnswerAt >= graceMs) {
      this.#forget({ kind: 'unreadable', why: 'the URL cannot be reached (no response in time)' });
    }
    return this.#reading;
  }

  start(): Promise<void> {
    return this.#poller.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#poller.finished();
  }

  async #poll(): Promise<void> {
    const { url, userAgent, maxBytes, timeoutMs, clock } = this.#options;
    const [validators, stop] = [this.#validators, this.#stopping.signal];
    this.#accept(await requestArtifact({ url, userAgent, maxBytes, timeoutMs, validators, stop, clock }));
  }

  #accept(answer: ArtifactResponse): void {
    const { monotonic, graceMs, maxBytes } = this.#options;
    if (answer.kind !== 'unreachable') this.#lastAnswerAt = monotonic();
    switch (answer.kind) {
      case 'unchanged':
        this.#noteHold(this.#reading);
        break;
      case 'gone':
        this.#forget({ kind: 'missing', why: 'the server responds that the artifact does not exist' });
        break;
      case 'too_large':
        this.#forget({ kind: 'unreadable', why: `the artifact is larger than ${maxBytes} bytes` });
        break;
      case 'unreachable':
        if (monotonic() - this.#lastAnswerAt < graceMs) break;
        this.#forget({ kind: 'unreadable', why: `the URL cannot be reached (${answer.why})` });
        break;
      case 'bytes':
        this.#take(answer);
    }
  }

  #take({ bytes, modifiedAt, validators }: Extract<ArtifactResponse, { kind: 'bytes' }>): void {
    const { clock, recognise } = this.#options;
    // A node that lags sends a copy from before a hold, which would show what is held.
    if (this.#isBeforeHold(modifiedAt)) return;
    this.#validators = validators;
    const isSame = this.#bytes?.equals(bytes) ?? false;
    const isKnown = isSame && (modifiedAt === null || modified(this.#reading) === modifiedAt);
    const reading = isKnown ? this.#reading : decodeArtifact(bytes, modifiedAt ?? clock(), recognise);
    this.#noteHold(reading);
    if (isKnown) return;
    this.#bytes = bytes;
    this.#become(reading);
  }

  #noteHold(reading: Reading<A>): void {
    const { monotonic, isHeld } = this.#options;
    if (reading.kind === 'readable' && isHeld?.(reading.artifact))
      this.#hold = { modifiedAt: reading.modifiedAt, at: monotonic() };
  }

  /** Returns true for a copy from before a hold. One that still arrives after `holdMs` was put there deliberately. */
  #isBeforeHold(modifiedAt: number | null): boolean {
    const hold = this.#hold;
    return (
      hold !== null &&
      modifiedAt !== null &&
      modifiedAt < hold.modifiedAt &&
      this.#options.monotonic() - hold.at < holdMs
    );
  }

  #forget(next: Reading<A>): void {
    this.#bytes = null;
    this.#validators = null;
    const reading = this.#reading;
    if (next.kind !== reading.kind || !('why' in reading) || !('why' in next) || next.why !== reading.why) {
      this.#become(next);
    }
  }

  #become(next: Reading<A>): void {
    this.#reading = next;
    this.#options.observe?.(next);
  }
}

function modified(reading: Reading<unknown>): number | null {
  return reading.kind === 'readable' ? reading.modifiedAt : null;
}

/** One conditional request for an artifact. */
interface ArtifactRequest {
  url: URL;
  userAgent: string;
  maxBytes: number;
  timeoutMs: number;
  validators: Headers | null;
  stop: AbortSignal;
  /** Returns milliseconds since 1970. */
  clock: () => number;
}

/**
 * Sends one conditional request. Unlike the facts API client, this function uses `Last-Modified`, which determines the
 * artifact's age, and reads the body only if the status is 200. A response that a cache repeats although it has expired
 * counts as no response. Never rejects: a failure is one of the results.
 */
export async function requestArtifact({
  url,
  userAgent,
  maxBytes,
  timeoutMs,
  validators,
  stop,
  clock,
}: ArtifactRequest): Promise<ArtifactResponse> {
  const deadline = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
  try {
    const headers = new Headers({ Accept: 'application/json', 'User-Agent': userAgent });
    const etag = validators?.get('etag');
    const lastModified = validators?.get('last-modified');
    if (etag) headers.set('If-None-Match', etag);
    if (lastModified) headers.set('If-Modified-Since', lastModified);
    const response = await serviceFetch(url, { headers, redirect: 'manual', signal: deadline });
    const expired = [200, 304].includes(response.status) ? expiry(response.headers, clock()) : null;
    if (expired !== null) return await discarded(response, { kind: 'unreachable', why: expired });
    if (response.status === 304 && validators) return await discarded(response, { kind: 'unchanged' });
    if (response.status === 404 || response.status === 410) return await discarded(response, { kind: 'gone' });
    if (response.status !== 200) {
      return await discarded(response, { kind: 'unreachable', why: `status ${response.status}` });
    }
    const bytes = await readBody(response, maxBytes);
    if (!bytes) return { kind: 'too_large' };
    return {
      kind: 'bytes',
      bytes: Buffer.from(bytes.buffer),
      modifiedAt: modificationTime(response.headers.get('last-modified')),
      validators: response.headers,
    };
  } catch (error) {
    return { kind: 'unreachable', why: reason(error, deadline) };
  }
}

/**
 * Describes a response that a cache repeats although it has expired: without such responses, a removed or held artifact
 * would stay current. Returns null for any other response, and for one without a `Date`.
 */
function expiry(headers: Headers, now: number): string | null {
  const age = Number(headers.get('age') ?? 0);
  const sentMs = now - Date.parse(headers.get('date') ?? '');
  const ageMs = Math.max(sentMs, Number.isFinite(age) ? age * 1000 : 0);
  const limitMs = cacheLifetimeMs(headers);
  if (!(ageMs > limitMs + clockToleranceMs)) return null;
  const [seconds, limit] = [ageMs, limitMs].map((span) => Math.floor(span / 1000));
  return `its response is ${seconds} s old, but caches may keep it for ${limit} s: a cache repeats expired responses, or this clock is ${seconds} s ahead of the server's`;
}

async function discarded(response: Response, answer: ArtifactResponse): Promise<ArtifactResponse> {
  await response.body?.cancel();
  return answer;
}

function modificationTime(text: string | null): number | null {
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

function reason(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return 'no response in time';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return systemCode(cause) === null ? 'the request failed' : systemWords(cause);
}
