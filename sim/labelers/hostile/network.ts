import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { dice } from '../../random.ts';
import type { Attack, Exchange, HostileIdentity, HostileStream, Kind } from './attack.ts';
import { Floods } from './floods.ts';
import { type HostHandler, Hosts } from './hosts.ts';
import { type PlacedIdentity, placeLabelers, soundDocument } from './identities.ts';
import { HostileJetstream } from './jetstream.ts';
import { HostileRelay } from './relay.ts';
import { sendJson, soundAttack } from './sound.ts';
import { openStream } from './stream.ts';

const queryPath = '/xrpc/com.atproto.label.queryLabels';
const streamPath = '/xrpc/com.atproto.label.subscribeLabels';
const recordPath = '/xrpc/com.atproto.repo.getRecord';
const documentPath = '/.well-known/did.json';
/** Number of hosts that start listening concurrently. */
const startsAtOnce = 100;

/** Options for a hostile network. */
export interface HostileOptions {
  readonly seed: number;
  readonly count: number;
  readonly kinds: readonly Kind[];
  readonly port: number;
  /** True if a name server resolves names below `.test`. */
  readonly names: boolean;
  /** Share of labelers that behave regularly until `turn` is called. */
  readonly lateShare: number;
  /** Maximum total bytes per second of all floods. */
  readonly floodBytesPerSecond: number;
  readonly now: () => number;
  /** DIDs of regular labelers, which attacks may also name. */
  readonly bystanders: readonly string[];
  /** Public key in the labelers' documents, as a multikey. */
  readonly multikey: string;
}

/** The hostile labelers, and the addresses of their Jetstream and relay. */
export interface HostileAddresses {
  readonly labelers: readonly HostileIdentity[];
  readonly jetstream: string;
  readonly relay: string;
}

/**
 * Numbers of requests to the hostile labelers of one kind, by type, and number of frames that these labelers announced.
 */
export interface Met {
  pages: number;
  streams: number;
  records: number;
  documents: number;
  announced: number;
}

/** A hostile labeler that is being served. */
interface Serving {
  identity: HostileIdentity;
  readonly kind: Kind;
  readonly sound: Attack;
  attack: Attack;
  hostile: boolean;
  /** Open streams of the labeler. */
  readonly streams: Set<HostileStream>;
}

/** All hostile labelers of a process, their relay, and the Jetstream that carries their records. */
export class HostileNetwork {
  /** Numbers of requests and announced frames, by kind of hostile labeler. */
  readonly met = new Map<string, Met>();
  readonly floods: Floods;
  readonly #options: HostileOptions;
  readonly #hosts = new Hosts();
  readonly #webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
  readonly #jetstream: HostileJetstream;
  readonly #relay = new HostileRelay();
  readonly #serving: Serving[] = [];
  #dids: string[] = [];
  #attacking = false;

  constructor(options: HostileOptions) {
    this.#options = options;
    this.floods = new Floods(options.floodBytesPerSecond);
    this.#jetstream = new HostileJetstream(options.now, () => this.#announce());
    for (const { name } of options.kinds) {
      this.met.set(name, { pages: 0, streams: 0, records: 0, documents: 0, announced: 0 });
    }
  }

  /** Starts all listeners. Resolves with the labelers and the addresses of the Jetstream and the hostile relay. */
  async start(): Promise<HostileAddresses> {
    const placed = placeLabelers(this.#options);
    for (let from = 0; from < placed.length; from += startsAtOnce) {
      await Promise.all(placed.slice(from, from + startsAtOnce).map((one) => this.#serve(one)));
    }
    this.#dids = [...this.#options.bystanders, ...this.#serving.map(({ identity }) => identity.did)];
    const [jetstream, relay] = await Promise.all([this.#jetstream.start(), this.#relay.start()]);
    return { labelers: this.#serving.map(({ identity }) => identity), jetstream, relay };
  }

  /** Starts the attacks of all labelers except the late ones, which wait for `turn`. */
  attack(): void {
    this.#attacking = true;
    this.#relay.attacking = true;
    for (const serving of this.#serving) if (!serving.identity.late) this.#begin(serving);
    this.#jetstream.announceAll(this.#serving.map(({ identity }) => identity.did));
  }

  /** Starts the attacks of the late labelers. */
  turn(): void {
    for (const serving of this.#serving) if (serving.identity.late) this.#begin(serving);
  }

  /** Ends the attack. The labelers stop listening, but the Jetstream and the relay continue. */
  async end(): Promise<void> {
    this.#attacking = false;
    this.#relay.attacking = false;
    this.floods.stop();
    await this.#hosts.stop();
  }

  /** Stops all listeners, including the Jetstream and the relay. */
  async stop(): Promise<void> {
    await this.end();
    await Promise.all([this.#jetstream.stop(), this.#relay.stop()]);
  }

  async #serve({ identity, listens }: PlacedIdentity): Promise<void> {
    const { kinds, now } = this.#options;
    const kind = kinds.find(({ name }) => name === identity.kind);
    if (kind === undefined) throw new RangeError(`unknown kind of hostile labeler: ${identity.kind}`);
    const sound: Attack = { ...soundAttack(identity, now()), stream: null };
    const serving: Serving = { identity, kind, sound, attack: sound, hostile: false, streams: new Set() };
    const handler: HostHandler = {
      request: (request, response) => this.#answer(serving, request, response),
      upgrade: (request, socket, head) => this.#upgrade(serving, request, socket, head),
    };
    for (const { address, port } of listens) {
      const given = await this.#hosts.listen(address, port, handler);
      if (kind.identity === 'web') {
        const origin = `http://localhost:${given}`;
        serving.identity = { ...identity, did: `did:web:localhost%3A${given}`, endpoints: [origin], pds: origin };
      }
    }
    this.#serving.push(serving);
  }

  #begin(serving: Serving): void {
    const { now, seed } = this.#options;
    const { identity, kind } = serving;
    serving.hostile = true;
    serving.attack = kind.attack({
      labeler: identity,
      chance: dice(seed * 31 + identity.index),
      now,
      others: () => this.#dids,
    });
    // Also attack the streams that were opened while the labeler behaved regularly.
    for (const stream of serving.streams) {
      if (serving.attack.stream) serving.attack.stream(stream);
      else stream.end();
    }
  }

  #meet(serving: Serving, what: keyof Met): void {
    const met = this.met.get(serving.kind.name);
    if (met && serving.hostile) met[what] += 1;
  }

  #answer(serving: Serving, request: IncomingMessage, response: ServerResponse): void {
    const { attack, sound } = serving;
    const target = new URL(request.url ?? '/', 'http://localhost');
    const exchange: Exchange = { request, response, target };
    response.on('error', () => undefined);
    if (target.pathname === queryPath) {
      this.#meet(serving, 'pages');
      (attack.page ?? sound.page)?.(exchange);
    } else if (target.pathname === recordPath) {
      this.#meet(serving, 'records');
      (attack.record ?? sound.record)?.(exchange);
    } else if (target.pathname === documentPath) {
      this.#meet(serving, 'documents');
      const document = soundDocument(serving.identity, this.#options.multikey);
      if (attack.document) attack.document(exchange, document);
      else sendJson(response, document);
    } else sendJson(response, { error: 'MethodNotImplemented' }, 501);
  }

  #upgrade(serving: Serving, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const target = new URL(request.url ?? '/', 'http://localhost');
    if (target.pathname !== streamPath) {
      socket.destroy();
      return;
    }
    this.#meet(serving, 'streams');
    const { attack } = serving;
    if (attack.upgrade) {
      attack.upgrade(request, socket);
      return;
    }
    const { stream } = attack;
    if (stream === undefined) {
      socket.end('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
      const cursor = target.searchParams.get('cursor');
      const opened = openStream(webSocket, socket, cursor === null ? null : Number(cursor), this.floods);
      serving.streams.add(opened);
      socket.once('close', () => serving.streams.delete(opened));
      stream?.(opened);
    });
  }

  #announce(): string[] {
    if (!this.#attacking) return [];
    const frames: string[] = [];
    for (const serving of this.#serving) {
      if (!serving.hostile || !serving.attack.announce) continue;
      const more = serving.attack.announce();
      const met = this.met.get(serving.kind.name);
      if (met) met.announced += more.length;
      frames.push(...more);
    }
    return frames;
  }
}
