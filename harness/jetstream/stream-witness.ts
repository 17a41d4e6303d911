import { WebSocket } from 'ws';
import { isObject, type JsonObject } from '../../src/input/json-budget.ts';
import { frameKey, operationKey } from './firehose-witness.ts';

/** Protocols of Jetstream, as the witness subscribes to them. */
export type Protocol = 'legacy' | 'current';

/** One event that Jetstream sent. */
export interface Sent {
  readonly what: string;
  /** Times of the event in the order in which they were first seen, in microseconds since 1970. */
  readonly timesUs: number[];
}

/** Paths of the subscriptions of Jetstream. */
export const paths: Readonly<Record<Protocol, string>> = {
  legacy: '/subscribe',
  current: '/xrpc/network.bsky.jetstream.subscribeEvents',
};
/** Time until the next attempt after a refusal or a close, in milliseconds. */
const againMs = 100;

/**
 * Subscribes to a Jetstream over one protocol, without compression, and records the times of every event. After a close
 * it resumes at its last number, as the instrument does; `restart` reads everything that the host still has.
 */
export class StreamWitness {
  readonly sent = new Map<string, Sent>();
  /** Frames that are not events, and the codes and statuses with which connections ended. */
  readonly notices: string[] = [];
  /** Number of frames received. */
  frames = 0;
  readonly #address: string;
  readonly #protocol: Protocol;
  /** Accounts and times of each `sync`. The creates of such an account and time repeat its repository. */
  readonly #syncs = new Set<string>();
  #socket: WebSocket | null = null;
  #seq: number | null = null;
  #stopped = false;

  constructor(address: string, protocol: Protocol) {
    this.#address = address;
    this.#protocol = protocol;
    this.#connect();
  }

  /** Reconnects and reads everything that the host still has, from its first number. */
  restart(): void {
    this.#seq = 1;
    this.#socket?.terminate();
  }

  /** Ends the subscription. */
  stop(): void {
    this.#stopped = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#stopped) return;
    const cursor = this.#seq === null ? '' : `?cursor=${this.#seq}`;
    const socket = new WebSocket(`${this.#address}${paths[this.#protocol]}${cursor}`, { perMessageDeflate: false });
    this.#socket = socket;
    socket.on('message', (data) => {
      this.frames += 1;
      const frame: unknown = JSON.parse(String(data));
      if (isObject(frame)) this.#take(frame);
    });
    socket.on('unexpected-response', (request, response) => {
      let body = '';
      response.on('data', (part) => {
        body += String(part);
      });
      response.on('end', () => {
        this.notices.push(`${response.statusCode} ${body.trim()}`);
        request.destroy();
        setTimeout(() => this.#connect(), againMs);
      });
    });
    socket.on('error', (error) => this.notices.push(String(error)));
    socket.once('close', (code, reason) => {
      this.notices.push(`close ${code} ${String(reason)}`);
      setTimeout(() => this.#connect(), againMs);
    });
  }

  #take(frame: JsonObject): void {
    const body = this.#protocol === 'current' ? frame.payload : frame;
    const event = isObject(body) ? read(body, this.#protocol) : null;
    if (event === null || !isObject(body)) {
      this.notices.push(JSON.stringify(frame));
      return;
    }
    this.#seq = event.seq;
    const place = `${String(body.did)} ${event.timeUs}`;
    if (event.what === 'sync') this.#syncs.add(place);
    if (event.what.endsWith(' create') && this.#syncs.has(place)) return;
    const sent = this.sent.get(event.key);
    if (sent === undefined) this.sent.set(event.key, { what: event.what, timesUs: [event.timeUs] });
    else if (!sent.timesUs.includes(event.timeUs)) sent.timesUs.push(event.timeUs);
  }
}

function read(body: JsonObject, protocol: Protocol) {
  const kind = protocol === 'current' ? String(body.$type).split('#')[1] : String(body.kind);
  const did = String(body.did);
  const seq = Number(protocol === 'current' ? body.seq : body.cursor);
  const timeUs = protocol === 'current' ? microseconds(String(body.time)) : Number(body.time_us);
  if (kind === 'commit') {
    const commit = protocol === 'current' ? body : body.commit;
    if (!isObject(commit)) return null;
    const [collection, operation] = [String(commit.collection), String(commit.operation)];
    const key = operationKey({ did, rev: String(commit.rev), collection, rkey: String(commit.rkey), operation });
    return { key, what: `${collection} ${operation}`, seq, timeUs };
  }
  const inner = kind === undefined ? null : body[kind];
  if (kind === undefined || !isObject(inner)) return null;
  return { key: frameKey(kind, did, Number(inner.seq)), what: kind, seq, timeUs };
}

/** Parses a time with six decimals, which Date cannot represent. */
function microseconds(time: string): number {
  return Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26));
}
