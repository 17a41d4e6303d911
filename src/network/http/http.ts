import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { createNameResolver } from '../dns/name-resolver.ts';
import {
  type AddressPolicy,
  type Admission,
  admitHttpUrl,
  guardedLookup,
  type Resolve,
} from '../guard/address-policy.ts';
import { type HostRate, HostRates, registrableDomain } from '../guard/host-rates.ts';
import { type Claim, createSlots, type SlotLimits, type Slots } from '../guard/slots.ts';
import {
  answerDate,
  decodeCharged,
  type HttpFailure,
  type HttpStatus,
  type ParseOptions,
  parseText,
  type RawAnswer,
  type ReadCost,
  readJson,
  readStatus,
} from './http-answer.ts';
import { type Exchange, exchange } from './http-exchange.ts';

/**
 * Settings of a client; all limits have defaults. The limits of `SlotLimits` apply to concurrent requests. Their
 * defaults are 4 requests to one host and port, 64 in total, and 4,096 waiting requests.
 */
interface HttpClientOptions extends Partial<SlotLimits> {
  readonly policy: AddressPolicy;
  /** `User-Agent` of every request, with the contact of this service's operator if one is set. */
  readonly userAgent: string;
  /**
   * Maximum number of concurrent bodies of more than 256 KiB (default 4), half of them reserved for privileged peers.
   */
  readonly largeBodies?: number;
  /** Maximum number of idle connections (default 64). */
  readonly maxIdle?: number;
  /** Lifetime of an idle connection, in milliseconds (default 15,000). */
  readonly idleMs?: number;
  /** Maximum size of the headers of a response, in bytes (default 16,384). */
  readonly maxHeaderBytes?: number;
  /**
   * Maximum rate of decoded bytes from one registrable domain for unprivileged peers, in bytes; default: no limit.
   * Requests above this rate resolve with `busy`.
   */
  readonly decodedRate?: HostRate;
  /** Returns milliseconds since 1970; default `Date.now`. */
  readonly clock?: () => number;
  /** Function that resolves host names; default: c-ares with its own cache and without the hosts file. */
  readonly resolve?: Resolve;
}

/** Source that causes a request; shares of slots are counted per source. */
export interface Peer {
  readonly source: string;
  /** True if requests for this source may use reserved slots. */
  readonly privileged: boolean;
}

/** Limits of one HTTP request. */
interface GetOptions {
  /** Maximum size of the body in bytes, both as sent and after decoding. */
  readonly maxBytes: number;
  /**
   * Timeout in milliseconds. It applies separately to the wait for a slot and to the exchange, from the resolution to
   * the last byte. The timeout of the exchange starts again if a new connection replaces a closed pooled connection.
   */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Value of the request's `Accept` header. */
  readonly accept?: string;
  /** Source of the request; a request without a source uses unreserved slots. */
  readonly peer?: Peer;
  /** Called with the cost of decoding the response, whether or not it can be used. */
  readonly charge?: (cost: ReadCost) => void;
}

/** Limits of one HTTP request for JSON. */
export interface GetJsonOptions extends GetOptions, ParseOptions {}

/** Result of an HTTP request for JSON. */
export type JsonAnswer =
  /** The response is JSON; `date` is the peer's `Date` header in milliseconds since 1970, precise to the second. */
  | { readonly kind: 'json'; readonly status: 200; readonly value: unknown; readonly date: number | null }
  | HttpStatus
  /**
   * The status is 200, but the body is not a single JSON value in UTF-8, or has a content coding that was not
   * requested.
   */
  | { readonly kind: 'not_json' }
  | HttpFailure;

/** Result of an HTTP request for text. */
export type TextAnswer =
  | { readonly kind: 'text'; readonly status: 200; readonly text: string; readonly date: number | null }
  | HttpStatus
  | { readonly kind: 'not_text' }
  | HttpFailure;

/** Result of an HTTP request for bytes. */
export type BytesAnswer =
  | { readonly kind: 'bytes'; readonly status: 200; readonly bytes: Buffer }
  | HttpStatus
  | { readonly kind: 'undecodable' }
  | HttpFailure;

/** The guarded HTTP client, for all content from other parties. */
export interface HttpClient {
  /** Requests one JSON value and resolves with the value or the failure. Never rejects. */
  getJson(url: string | URL, options: GetJsonOptions): Promise<JsonAnswer>;
  /** Requests UTF-8 text and resolves with the text or the failure. Never rejects. */
  getText(url: string | URL, options: GetOptions): Promise<TextAnswer>;
  /** Aborts pending requests and closes every connection; later requests resolve with `aborted` immediately. */
  close(): Promise<void>;
}

/** An HTTP client that can also request bytes. */
export interface BytesClient extends HttpClient {
  /** Requests a body and decodes only its content coding; resolves with the bytes or the failure. Never rejects. */
  getBytes(url: string | URL, options: GetOptions): Promise<BytesAnswer>;
}

/** Returns a view of a client that attributes all requests to one peer. */
export function withPeer(http: HttpClient, peer: Peer): HttpClient {
  return {
    getJson: (url, get) => http.getJson(url, { ...get, peer }),
    getText: (url, get) => http.getText(url, { ...get, peer }),
    close: () => http.close(),
  };
}

/**
 * Creates a client that connects only to addresses that the policy allows. It resolves a name once per connection, and
 * connects to the addresses that it checked. It returns redirects as responses, uses no proxy, and limits the size and
 * the duration of each exchange.
 */
export function createHttpClient(options: HttpClientOptions): BytesClient {
  return new GuardedHttpClient(options);
}

class GuardedHttpClient implements BytesClient {
  readonly #options: HttpClientOptions;
  readonly #clock: () => number;
  readonly #resolve: Resolve;
  readonly #slots: Slots;
  readonly #bodies: Slots;
  readonly #decoded: HostRates | null;
  readonly #agents: BoundedAgents;
  readonly #underWay = new Map<AbortController, Promise<unknown>>();
  #isClosed = false;

  constructor(options: HttpClientOptions) {
    const { decodedRate, largeBodies = 4, maxWaiting = 4096, maxIdle = 64, idleMs = 15_000 } = options;
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#resolve = options.resolve ?? createNameResolver({ hostsFile: null }).resolve;
    this.#slots = createSlots({ perHost: 4, total: 64, ...options, maxWaiting });
    const reserved = Math.floor(largeBodies / 2);
    this.#bodies = createSlots({ perHost: 1, total: largeBodies, reserved, maxWaiting });
    this.#decoded = decodedRate === undefined ? null : new HostRates(decodedRate, () => performance.now());
    this.#agents = boundedAgents({ maxIdle, idleMs });
  }

  async getJson(url: string | URL, get: GetJsonOptions): Promise<JsonAnswer> {
    const found = await this.#body(url, get);
    if (found.kind === 'undecodable') return { kind: 'not_json' };
    if (found.kind !== 'decoded') return found;
    const read = await readJson(found.bytes, get);
    return read.kind === 'json' ? { ...read, status: 200, date: found.date } : read;
  }

  async getText(url: string | URL, get: GetOptions): Promise<TextAnswer> {
    const found = await this.#body(url, get);
    if (found.kind === 'undecodable') return { kind: 'not_text' };
    if (found.kind !== 'decoded') return found;
    const text = parseText(found.bytes);
    return text === null ? { kind: 'not_text' } : { kind: 'text', status: 200, text, date: found.date };
  }

  async getBytes(url: string | URL, get: GetOptions): Promise<BytesAnswer> {
    const found = await this.#body(url, get);
    return found.kind === 'decoded' ? { kind: 'bytes', status: 200, bytes: found.bytes } : found;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#underWay.keys()) stop.abort();
    await Promise.all(this.#underWay.values());
    this.#agents.destroy();
  }

  /**
   * Requests a URL and resolves with the decoded body of a response with status 200, or with the reason for the
   * failure.
   */
  async #body(url: string | URL, get: GetOptions) {
    const answer = await this.#track(String(url), get);
    if (answer.kind !== 'answer') return answer;
    const { headers } = answer;
    if (answer.status !== 200) return readStatus(answer, this.#clock());
    if (answer.body === null) return { kind: 'too_large' } as const;
    const decoded = decodeCharged(headers, answer.body, get.maxBytes, (cost) => {
      if (get.peer?.privileged !== true) this.#decoded?.take(registrableDomain(new URL(url).host), cost.bytes);
      get.charge?.(cost);
    });
    return decoded.kind === 'decoded' ? { ...decoded, date: answerDate(headers) } : decoded;
  }

  /**
   * Sends a request that ends when the caller or the client aborts. `AbortSignal.any` is not used, because it leaks
   * memory in long-lived signals.
   */
  async #track(text: string, get: GetOptions): Promise<RawAnswer | HttpFailure> {
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    if (get.signal.aborted || this.#isClosed) abort();
    get.signal.addEventListener('abort', abort, { once: true });
    const work = this.#ask(text, get, stop.signal);
    this.#underWay.set(stop, work);
    try {
      return await work;
    } finally {
      get.signal.removeEventListener('abort', abort);
      this.#underWay.delete(stop);
    }
  }

  async #ask(text: string, get: GetOptions, signal: AbortSignal): Promise<RawAnswer | HttpFailure> {
    const admission = admitHttpUrl(text, this.#options.policy);
    if (admission.kind !== 'admitted') return { kind: admission.kind, why: admission.why };
    const claim = { host: admission.url.host, ...get.peer };
    const slot = await this.#slots.acquire(claim, get.timeoutMs, signal);
    if (typeof slot === 'string') return { kind: slot };
    if (!this.#mayDecode(claim)) {
      slot();
      return { kind: 'busy' };
    }
    const request = this.#request(admission, claim, get, signal);
    let answered = false;
    try {
      const first = await exchange({ ...request, agent: this.#agents[admission.loopbackOnly ? 'http' : 'https'] });
      // Repeat the request on a new connection if the peer closed a pooled connection, because the peer may not have
      // received the request.
      const outcome = first.kind === 'stale' ? await exchange({ ...request, agent: false }) : first;
      answered = outcome.kind === 'answer';
      return outcome.kind === 'stale' ? { kind: 'connect', code: 'ECONNRESET' } : outcome;
    } finally {
      slot(answered);
    }
  }

  /** Returns false if the domain of the claim has used up its decoded bytes. */
  #mayDecode({ host, privileged = false }: Claim): boolean {
    return privileged || this.#decoded === null || this.#decoded.msUntilFree(registrableDomain(host)) === 0;
  }

  #request(
    { url, loopbackOnly }: Extract<Admission, { kind: 'admitted' }>,
    claim: Claim,
    { maxBytes, timeoutMs, accept = 'application/json' }: GetOptions,
    signal: AbortSignal,
  ): Omit<Exchange, 'agent'> {
    const { policy, userAgent, maxHeaderBytes = 16_384 } = this.#options;
    const resolve = this.#resolve;
    return {
      url,
      lookup: (over, found) => guardedLookup(policy, { loopbackOnly, resolve, signal: over, found }),
      largeBody: (over) => this.#bodies.acquire(claim, timeoutMs, over),
      headers: { Accept: accept, 'Accept-Encoding': 'gzip, deflate, br', 'User-Agent': userAgent },
      maxHeaderBytes,
      maxBytes,
      timeoutMs,
      signal,
    };
  }
}

/** Connection pools that share one limit on idle connections. */
interface BoundedAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** Closes all idle connections. */
  destroy(): void;
}

/**
 * Creates the connection pools. `maxIdle` is the maximum number of idle connections of both pools together; `idleMs` is
 * the lifetime of an idle connection, in milliseconds.
 */
function boundedAgents({ maxIdle, idleMs }: { maxIdle: number; idleMs: number }): BoundedAgents {
  const idle = createIdleSockets(maxIdle);
  // The agent uses no proxy, because `proxyEnv` is not set. Slots limit active connections, so the agents limit only
  // idle connections.
  const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle };
  const http = new HttpAgent(options);
  // The pooled connections share one context, because each context takes 18 KB of memory and 0.25 ms of processor
  // time.
  const https = new HttpsAgent({ ...options, secureContext: createSecureContext() });
  for (const agent of [http, https]) boundIdle(agent, idle);
  return {
    http,
    https,
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Idle sockets, the oldest first. If the maximum number is exceeded, `add` closes the oldest socket. */
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

/**
 * Limits the idle sockets of an agent by replacing two of the agent's methods, because node limits idle sockets only
 * per host.
 */
function boundIdle(agent: HttpAgent, idle: IdleSockets): void {
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket) => {
    // `keep` returns a boolean, although it is declared to return `void`.
    const kept = (keep as (socket: Duplex) => unknown)(socket) === true;
    if (kept) idle.add(socket);
    return kept;
  };
  agent.reuseSocket = (socket, request) => {
    idle.remove(socket);
    reuse(socket, request);
  };
}
