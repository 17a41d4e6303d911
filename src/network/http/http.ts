import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { createNameResolver } from '../dns/name-resolver.ts';
import { type AddressPolicy, guardedLookup, type Resolve } from '../guard/address-policy.ts';
import { admitHttpUrl } from '../guard/outbound-url.ts';
import { createSlots, type SlotLimits } from '../guard/slots.ts';
import {
  answerDate,
  decodeBody,
  type HttpFailure,
  type HttpStatus,
  type ParseOptions,
  parseText,
  type RawAnswer,
  readJson,
  readStatus,
} from './http-answer.ts';
import { exchange } from './http-exchange.ts';

/**
 * Settings of a client; all bounds have defaults. Those of `SlotLimits` are of requests under way at once: 4 to one host
 * and port, 64 in all, 4,096 waiting for their turn.
 */
export interface HttpClientOptions extends Partial<SlotLimits> {
  readonly policy: AddressPolicy;
  /** Sent as `User-Agent`, so that operators know whom to write to. */
  readonly userAgent: string;
  /** Bodies of more than 256 KiB that are read at once (4), half of them reserved for privileged peers. */
  readonly largeBodies?: number;
  /** Connections kept open without a request (64), and for how long in milliseconds (15,000). */
  readonly maxIdle?: number;
  readonly idleMs?: number;
  /** Of an answer, in bytes (16,384). */
  readonly maxHeaderBytes?: number;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly clock?: () => number;
  /** Name resolution; by default c-ares with a cache of its own and without the hosts file. */
  readonly resolve?: Resolve;
}

/** On whose behalf a request is made: shares are counted by it. */
export interface Peer {
  readonly source: string;
  /** True if reserved slots may serve it. */
  readonly privileged: boolean;
}

/** Limits of one request. */
export interface GetOptions {
  /** Of the body, in bytes: as sent, and decoded. */
  readonly maxBytes: number;
  /**
   * For the wait for a turn, and again for the whole exchange, resolution to last byte; once more where a kept connection
   * proved dead and a new one was opened. In milliseconds.
   */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The `Accept` header. */
  readonly accept?: string;
  /** Without it the request shares what is not reserved. */
  readonly peer?: Peer;
}

/** Limits of one request for JSON. */
export interface GetJsonOptions extends GetOptions, ParseOptions {}

/** Result of a request for JSON. */
export type JsonAnswer =
  /** `date`: the peer's `Date` header in milliseconds since 1970, to the second. */
  | { readonly kind: 'json'; readonly status: 200; readonly value: unknown; readonly date: number | null }
  | HttpStatus
  /** Status 200, but not one JSON value in UTF-8 in a coding we asked for. */
  | { readonly kind: 'not_json' }
  | HttpFailure;

/** Result of a request for text. */
export type TextAnswer =
  | { readonly kind: 'text'; readonly status: 200; readonly text: string; readonly date: number | null }
  | HttpStatus
  | { readonly kind: 'not_text' }
  | HttpFailure;

/** What came of asking for bytes. */
export type BytesAnswer =
  | { readonly kind: 'bytes'; readonly status: 200; readonly bytes: Buffer }
  | HttpStatus
  | { readonly kind: 'undecodable' }
  | HttpFailure;

/** The guarded client for everything that strangers serve. */
export interface HttpClient {
  /** Asks for one JSON value. Never rejects. */
  getJson(url: string | URL, options: GetJsonOptions): Promise<JsonAnswer>;
  /** Asks for a text in UTF-8. Never rejects. */
  getText(url: string | URL, options: GetOptions): Promise<TextAnswer>;
  /** Ends what is under way as `aborted`, closes every connection; later requests are `aborted` at once. */
  close(): Promise<void>;
}

/** A client that asks for bytes too. */
export interface BytesClient extends HttpClient {
  /** Asks for a body as it is, but for its content coding. Never rejects. */
  getBytes(url: string | URL, options: GetOptions): Promise<BytesAnswer>;
}

/** The same client, asking on behalf of a peer. */
export function withPeer(http: HttpClient, peer: Peer): HttpClient {
  return {
    getJson: (url, get) => http.getJson(url, { ...get, peer }),
    getText: (url, get) => http.getText(url, { ...get, peer }),
    close: () => http.close(),
  };
}

/**
 * Makes a client that asks public addresses only: what it judged is what it connects to, names are not resolved a second
 * time, redirects are answers, no proxy is used, and bytes and time are bounded throughout.
 */
export function createHttpClient(options: HttpClientOptions): BytesClient {
  const {
    policy,
    userAgent,
    clock = Date.now,
    resolve = createNameResolver({ hostsFile: null }).resolve,
    largeBodies = 4,
    maxHeaderBytes = 16_384,
    maxIdle = 64,
    idleMs = 15_000,
  } = options;
  const maxWaiting = options.maxWaiting ?? 4096;
  const slots = createSlots({ perHost: 4, total: 64, ...options, maxWaiting });
  const bodies = createSlots({ perHost: 1, total: largeBodies, reserved: Math.floor(largeBodies / 2), maxWaiting });
  let closed = false;
  const underWay = new Map<AbortController, Promise<unknown>>();
  const idle = createIdleSockets(maxIdle);
  // Without `proxyEnv` an agent never uses a proxy. The slots bound what is active, so the agents bound idleness alone.
  const agentOptions = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle };
  const agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  for (const agent of [agents.http, agents.https]) boundIdle(agent, idle);

  async function ask(text: string, get: GetOptions, signal: AbortSignal): Promise<RawAnswer | HttpFailure> {
    const admission = admitHttpUrl(text, policy);
    if (admission.kind !== 'admitted') return { kind: admission.kind, why: admission.why };
    const { url, loopbackOnly } = admission;
    const claim = { host: url.host, ...get.peer };
    const slot = await slots.acquire(claim, get.timeoutMs, signal);
    if (typeof slot === 'string') return { kind: slot };
    const scheme = loopbackOnly ? 'http' : 'https';
    const question = {
      url,
      lookup: (over: AbortSignal) => guardedLookup(policy, { loopbackOnly, resolve, signal: over }),
      largeBody: (over: AbortSignal) => bodies.acquire(claim, get.timeoutMs, over),
      headers: {
        Accept: get.accept ?? 'application/json',
        'Accept-Encoding': 'gzip, deflate, br',
        'User-Agent': userAgent,
      },
      maxHeaderBytes,
      maxBytes: get.maxBytes,
      timeoutMs: get.timeoutMs,
      signal,
    };
    let answered = false;
    try {
      const first = await exchange({ ...question, agent: agents[scheme] });
      // The peer closed a kept connection as we wrote to it: that is no answer, so a fresh connection asks again.
      const outcome = first.kind === 'stale' ? await exchange({ ...question, agent: false }) : first;
      answered = outcome.kind === 'answer';
      return outcome.kind === 'stale' ? { kind: 'connect', code: 'ECONNRESET' } : outcome;
    } finally {
      slot(answered);
    }
  }

  /** Asks until the caller gives up or the client closes. `AbortSignal.any` would leave traces in signals that last. */
  async function track(text: string, get: GetOptions): Promise<RawAnswer | HttpFailure> {
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    if (get.signal.aborted || closed) abort();
    get.signal.addEventListener('abort', abort, { once: true });
    const work = ask(text, get, stop.signal);
    underWay.set(stop, work);
    try {
      return await work;
    } finally {
      get.signal.removeEventListener('abort', abort);
      underWay.delete(stop);
    }
  }

  /** The decoded body of a 200, or what there is instead. */
  async function body(url: string | URL, get: GetOptions) {
    const answer = await track(String(url), get);
    if (answer.kind !== 'answer') return answer;
    const { headers } = answer;
    if (answer.status !== 200) return readStatus(answer, clock());
    if (answer.body === null) return { kind: 'too_large' } as const;
    const decoded = decodeBody(headers, answer.body, get.maxBytes);
    return decoded.kind === 'decoded' ? { ...decoded, date: answerDate(headers) } : decoded;
  }

  return {
    async getJson(url, get) {
      const found = await body(url, get);
      if (found.kind === 'undecodable') return { kind: 'not_json' };
      if (found.kind !== 'decoded') return found;
      const read = await readJson(found.bytes, get);
      return read.kind === 'json' ? { ...read, status: 200, date: found.date } : read;
    },
    async getText(url, get) {
      const found = await body(url, get);
      if (found.kind === 'undecodable') return { kind: 'not_text' };
      if (found.kind !== 'decoded') return found;
      const text = parseText(found.bytes);
      return text === null ? { kind: 'not_text' } : { kind: 'text', status: 200, text, date: found.date };
    },
    async getBytes(url, get) {
      const found = await body(url, get);
      return found.kind === 'decoded' ? { kind: 'bytes', status: 200, bytes: found.bytes } : found;
    },
    async close() {
      closed = true;
      for (const stop of underWay.keys()) stop.abort();
      await Promise.all(underWay.values());
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Sockets without a request, oldest first; beyond the bound the oldest is closed. */
interface IdleSockets {
  add(socket: Duplex): void;
  remove(socket: Duplex): void;
}

function createIdleSockets(max: number): IdleSockets {
  const sockets = new Map<Duplex, () => void>();

  function remove(socket: Duplex): void {
    const gone = sockets.get(socket);
    if (gone) socket.off('close', gone);
    sockets.delete(socket);
  }

  return {
    add(socket) {
      const gone = (): void => remove(socket);
      sockets.set(socket, gone);
      socket.once('close', gone);
      const [oldest] = sockets.keys();
      if (sockets.size <= max || !oldest) return;
      remove(oldest);
      oldest.destroy();
    },
    remove,
  };
}

/** Node bounds idle sockets by host only; these two methods are where an agent lets others decide. */
function boundIdle(agent: HttpAgent, idle: IdleSockets): void {
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket) => {
    // It returns a boolean, although its declared type does not.
    const kept = (keep as (socket: Duplex) => unknown)(socket) === true;
    if (kept) idle.add(socket);
    return kept;
  };
  agent.reuseSocket = (socket, request) => {
    idle.remove(socket);
    reuse(socket, request);
  };
}
