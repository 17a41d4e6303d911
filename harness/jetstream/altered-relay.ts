import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromUint8Array } from '@atcute/car';
import { decode, encode, toBytes, toCidLink } from '@atcute/cbor';
import { type WebSocket, WebSocketServer } from 'ws';
import { decodeFrame, type Frame, openFirehose, subscribePath } from './firehose-witness.ts';

/** One frame of the relay, under its number. */
interface Kept {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** A consumer of the relay. */
interface Consumer {
  readonly socket: WebSocket;
  readonly isWitness: boolean;
  /** Index of the next frame to send. */
  next: number;
}

/**
 * A relay between the simulated network and Jetstream. It repeats the network's frames under its own numbers, and can
 * add, withhold and repeat frames. Requests of other methods are passed on to the network.
 */
export class AlteredRelay {
  /** Accounts whose commits the relay withholds. */
  readonly withheld = new Set<string>();
  /** True while no consumer receives a frame. */
  isStopped = false;
  readonly #network: string;
  readonly #frames: Kept[] = [];
  readonly #consumers = new Set<Consumer>();
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #upstream: WebSocket;
  #seq = 0;
  #swallow = 0;

  private constructor(network: string) {
    this.#network = network;
    this.#server = createServer((request, response) => void this.#pass(request, response));
    this.#server.on('upgrade', (request, socket, head) =>
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted, request)),
    );
    this.#upstream = openFirehose(`${network}${subscribePath}`, (frame) => this.#take(decodeFrame(frame)));
  }

  /** Starts a relay on a free port, which repeats the frames of a network from the first one. */
  static async start(network: string): Promise<AlteredRelay> {
    const relay = new AlteredRelay(network);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all connections and stops listening. */
  stop(): void {
    this.#upstream.terminate();
    this.disconnect();
    for (const { socket } of this.#consumers) socket.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Returns the DIDs of the first accounts of the network, the most active ones first. */
  async accounts(limit: number): Promise<string[]> {
    const response = await fetch(`${this.#network}/xrpc/com.atproto.sync.listRepos?limit=${limit}`);
    const body = (await response.json()) as { readonly repos: readonly { readonly did: string }[] };
    return body.repos.map(({ did }) => did);
  }

  /** Sends an `#account` frame. `status` is null for an active account. */
  account(did: string, status: string | null): void {
    const body = status === null ? { active: true } : { active: false, status };
    this.#add('#account', { did, time: new Date().toISOString(), ...body });
  }

  /** Sends an `#identity` frame. */
  identity(did: string, handle: string): void {
    this.#add('#identity', { did, time: new Date().toISOString(), handle });
  }

  /** Sends a `#sync` frame with the present commit of an account. */
  async sync(did: string): Promise<void> {
    const response = await fetch(`${this.#network}/xrpc/com.atproto.sync.getRepo?did=${did}`);
    const car = new Uint8Array(await response.arrayBuffer());
    const reader = fromUint8Array(car);
    const root = reader.roots[0]?.$link;
    for (const { cid, bytes } of reader) {
      if (toCidLink(cid).$link !== root) continue;
      const { rev } = decode(bytes) as { readonly rev: string };
      const header = car.subarray(0, 1 + (car[0] ?? 0));
      const blocks = Buffer.concat([header, varint(cid.bytes.length + bytes.length), cid.bytes, bytes]);
      this.#add('#sync', { did, rev, blocks: toBytes(blocks), time: new Date().toISOString() });
      return;
    }
    throw new Error(`the repository of ${did} has no commit`);
  }

  /** Sends bytes that are not a frame of the protocol to Jetstream, and not to the witness. */
  garbage(bytes: Uint8Array): void {
    for (const { socket, isWitness } of this.#consumers) if (!isWitness) socket.send(bytes);
  }

  /** Sends the last frames again, with their numbers. */
  repeat(frames: number): void {
    for (const consumer of this.#consumers) {
      for (const { bytes } of this.#frames.slice(Math.max(0, consumer.next - frames), consumer.next)) {
        consumer.socket.send(bytes);
      }
    }
  }

  /** Withholds the next frames from all consumers, although their numbers are used. */
  skip(frames: number): void {
    this.#swallow += frames;
  }

  /** Continues at other numbers, as a relay that was restored from an older copy (negative) or a new one does. */
  renumber(step: number): void {
    this.#seq = Math.max(0, this.#seq + step);
  }

  /** Ends all connections of Jetstream. */
  disconnect(): void {
    for (const { socket, isWitness } of this.#consumers) if (!isWitness) socket.close(1011, 'the relay restarts');
  }

  /** Sends all frames that are due. */
  pump(): void {
    if (this.isStopped) return;
    for (const consumer of this.#consumers) {
      for (; consumer.next < this.#frames.length; consumer.next += 1) {
        const frame = this.#frames[consumer.next];
        if (frame !== undefined) consumer.socket.send(frame.bytes);
      }
    }
  }

  #take({ kind, body }: Frame): void {
    if (kind === '#commit' && this.withheld.has(String(body.repo))) return;
    this.#add(kind, body);
  }

  #add(kind: string, body: object): void {
    this.#seq += 1;
    if (this.#swallow > 0) {
      this.#swallow -= 1;
      return;
    }
    const bytes = Buffer.concat([encode({ t: kind, op: 1 }), encode({ ...body, seq: this.#seq })]);
    this.#frames.push({ seq: this.#seq, bytes });
    this.pump();
  }

  #accept(socket: WebSocket, { url = '' }: IncomingMessage): void {
    const query = new URL(url, 'http://localhost').searchParams;
    const cursor = query.get('cursor');
    const after = cursor === null ? -1 : this.#frames.findIndex(({ seq }) => seq > Number(cursor));
    const consumer = { socket, isWitness: query.has('witness'), next: after < 0 ? this.#frames.length : after };
    this.#consumers.add(consumer);
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.#consumers.delete(consumer));
    this.pump();
  }

  async #pass({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await fetch(`${this.#network}${url}`);
      const type = answer.headers.get('Content-Type') ?? 'text/plain';
      response.writeHead(answer.status, { 'Content-Type': type });
      // Jetstream accepts only the relay's own address as that of a host on loopback.
      if (!type.includes('json')) response.end(Buffer.from(await answer.arrayBuffer()));
      else response.end((await answer.text()).replaceAll(new URL(this.#network).host, new URL(this.url).host));
    } catch {
      response.writeHead(502).end();
    }
  }
}

/** Encodes a length of less than 16,384 as in a CAR file. */
function varint(length: number): Uint8Array {
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
}
