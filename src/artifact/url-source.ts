import { setTimeout as delay } from 'node:timers/promises';
import { readBody } from '../client/body.ts';
import { systemCode, systemWords } from '../ops/errors.ts';
import { decodeArtifact } from './decode.ts';
import type { Reading, Recogniser } from './reading.ts';
import type { ArtifactSource, ReadingObserver } from './source.ts';

/** Options of a URL source; all times in milliseconds. */
export interface UrlSourceOptions<A> {
  /** The operator's own address, `http:` or `https:`. */
  readonly url: URL;
  /** `User-Agent` of every request. */
  readonly userAgent: string;
  readonly recognise: Recogniser<A>;
  readonly maxBytes: number;
  readonly pollMs: number;
  /** Timeout of a whole response. */
  readonly timeoutMs: number;
  /**
   * Grace period of an unreachable artifact, in which the last reading stays with its true age; afterwards it is
   * unreadable.
   */
  readonly graceMs: number;
  /** Maximum time that `start` waits for the first response. */
  readonly firstAnswerMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly observe?: ReadingObserver<A>;
}

type Answer =
  | { kind: 'bytes'; bytes: Buffer; modifiedAt: number | null; validators: Headers }
  | { kind: 'unchanged' }
  | { kind: 'gone' }
  | { kind: 'too_large' }
  | { kind: 'unreachable'; why: string };

/**
 * An artifact at a URL, polled with conditional requests. A request for a fact never waits for the URL: it uses the
 * last response and its age.
 */
export function urlSource<A>(options: UrlSourceOptions<A>): ArtifactSource<A> {
  const { url, userAgent, recognise, maxBytes, pollMs, timeoutMs, graceMs, firstAnswerMs, clock, observe } = options;
  const stopping = new AbortController();
  let reading: Reading<A> = { kind: 'unreadable', why: 'the URL has not responded yet' };
  let bytes: Buffer | null = null;
  let validators: Headers | null = null;
  let lastAnswerAt = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> = Promise.resolve();

  function become(next: Reading<A>): void {
    reading = next;
    observe?.(next);
  }

  function forget(next: Reading<A>): void {
    bytes = null;
    validators = null;
    if (next.kind !== reading.kind || !('why' in reading) || !('why' in next) || next.why !== reading.why) become(next);
  }

  function accept(answer: Answer): void {
    if (answer.kind !== 'unreachable') lastAnswerAt = clock();
    switch (answer.kind) {
      case 'unchanged':
        break;
      case 'gone':
        forget({ kind: 'missing', why: 'the URL responds that there is no artifact' });
        break;
      case 'too_large':
        forget({ kind: 'unreadable', why: `it is larger than ${maxBytes} bytes` });
        break;
      case 'unreachable':
        if (clock() - lastAnswerAt < graceMs) break;
        forget({ kind: 'unreadable', why: `the URL cannot be reached (${answer.why})` });
        break;
      case 'bytes':
        take(answer);
    }
  }

  function take(answer: Extract<Answer, { kind: 'bytes' }>): void {
    validators = answer.validators;
    const same = bytes?.equals(answer.bytes) ?? false;
    if (same && (answer.modifiedAt === null || modified(reading) === answer.modifiedAt)) return;
    bytes = answer.bytes;
    become(decodeArtifact(answer.bytes, answer.modifiedAt ?? clock(), recognise));
  }

  async function poll(): Promise<void> {
    accept(await ask({ url, userAgent, maxBytes, timeoutMs, validators, stop: stopping.signal }));
  }

  async function pollForEver(first: Promise<void>): Promise<void> {
    await first;
    while (!stopping.signal.aborted) {
      await delay(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (!stopping.signal.aborted) await poll();
    }
  }

  return {
    read() {
      // Also applies while a poll hangs: without a response, an old artifact must not stay current.
      if (reading.kind === 'readable' && clock() - lastAnswerAt >= graceMs) {
        forget({ kind: 'unreadable', why: 'the URL cannot be reached (no response in time)' });
      }
      return reading;
    },
    async start() {
      const first = poll();
      polling = pollForEver(first);
      await Promise.race([first, delay(firstAnswerMs, undefined, { ref: false })]);
    },
    async stop() {
      stopping.abort();
      await polling;
    },
  };
}

function modified(reading: Reading<unknown>): number | null {
  return reading.kind === 'readable' ? reading.modifiedAt : null;
}

interface Question {
  url: URL;
  userAgent: string;
  maxBytes: number;
  timeoutMs: number;
  validators: Headers | null;
  stop: AbortSignal;
}

/**
 * Sends one conditional request. Unlike the client of the facts API it also uses `Last-Modified`, from which an artifact
 * has its age, and it does not read the body of another status.
 */
async function ask({ url, userAgent, maxBytes, timeoutMs, validators, stop }: Question): Promise<Answer> {
  const deadline = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
  try {
    const headers = new Headers({ Accept: 'application/json', 'User-Agent': userAgent });
    const etag = validators?.get('etag');
    const lastModified = validators?.get('last-modified');
    if (etag) headers.set('If-None-Match', etag);
    if (lastModified) headers.set('If-Modified-Since', lastModified);
    const response = await fetch(url, { headers, redirect: 'manual', signal: deadline });
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

async function discarded(response: Response, answer: Answer): Promise<Answer> {
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
