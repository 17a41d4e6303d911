import { fromUint8Array } from '@atcute/car';
import { decode, decodeFirst, fromBytes, isBytes, isCidLink, toCidLink } from '@atcute/cbor';
import { WebSocket } from 'ws';
import { isObject, type JsonObject } from '../../src/input/json-budget.ts';

/** Path of the stream of a relay. */
export const subscribePath = '/xrpc/com.atproto.sync.subscribeRepos';

/** One event of a relay: an operation of a commit, or a frame of another kind. */
export interface RelayEvent {
  /** Identifies the event in the relay's stream and in Jetstream's. */
  readonly key: string;
  /** Collection and operation (`app.bsky.feed.like create`), or the kind of the frame. */
  readonly what: string;
  /** Time at which the witness received the frame, in microseconds since 1970. */
  readonly arrivedUs: number;
}

/**
 * Subscribes to a relay's `com.atproto.sync.subscribeRepos` and records every event: the truth of a run. It shares no
 * code with the program or with the simulated network.
 */
export class FirehoseWitness {
  readonly events = new Map<string, RelayEvent>();
  /** Errors of frames that could not be decoded. A run with any of them proves nothing. */
  readonly problems: string[] = [];
  readonly #socket: WebSocket;

  private constructor(relay: string) {
    this.#socket = openFirehose(`${relay}${subscribePath}?witness=true`, (frame) => {
      try {
        for (const event of eventsOf(frame, Date.now() * 1000)) this.events.set(event.key, event);
      } catch (error) {
        this.problems.push(String(error));
      }
    });
    this.#socket.on('error', (error) => this.problems.push(String(error)));
  }

  /** Connects to a relay. Resolves once the relay sends events. */
  static async connect(relay: string): Promise<FirehoseWitness> {
    const witness = new FirehoseWitness(relay);
    await new Promise((resolve, reject) => witness.#socket.once('open', resolve).once('error', reject));
    return witness;
  }

  /** Ends the subscription. */
  stop(): void {
    this.#socket.removeAllListeners('error').on('error', () => undefined);
    this.#socket.terminate();
  }
}

function toBytes(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  throw new Error('the relay sent a frame that is not binary');
}

/** Opens the stream at a URL (`http:`), and calls `take` with each frame. */
export function openFirehose(url: string, take: (frame: Uint8Array) => void): WebSocket {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  socket.binaryType = 'nodebuffer';
  return socket.on('message', (data) => take(toBytes(data)));
}

/** Beginning of the headers of the simulated relay: a map of two entries, with `op: 1` before `t`. */
const opFirst = Buffer.from('a2626f70016174', 'hex');

/**
 * Returns a frame with the keys of its header in canonical order. The relay of Jetstream's simulator, unlike those in
 * production, sends the longer key first, which the library refuses.
 */
function canonical(frame: Uint8Array): Uint8Array {
  if (opFirst.compare(frame, 0, opFirst.length) !== 0) return frame;
  const textEnd = opFirst.length + 1 + ((frame[opFirst.length] ?? 0) & 0x1f);
  const text = frame.subarray(opFirst.length, textEnd);
  return Buffer.concat([Buffer.from('a26174', 'hex'), text, Buffer.from('626f7001', 'hex'), frame.subarray(textEnd)]);
}

/** Kind of a relay's frame (`#commit`), and its fields. */
export interface Frame {
  readonly kind: string;
  readonly body: JsonObject;
}

/** Decodes a frame with a library. Throws an error for a frame that is not a message. */
export function decodeFrame(frame: Uint8Array): Frame {
  const [header, rest]: [unknown, Uint8Array] = decodeFirst(canonical(frame));
  const body: unknown = decode(rest);
  if (!isObject(header) || !isObject(body)) throw new Error('the frame is not a pair of objects');
  if (header.op !== 1) throw new Error(`the relay ended the stream: ${String(body.error)}`);
  return { kind: String(header.t), body };
}

function eventsOf(frame: Uint8Array, arrivedUs: number): RelayEvent[] {
  const { kind, body } = decodeFrame(frame);
  if (kind === '#commit') return operationsOf(body, arrivedUs);
  if (!['#identity', '#account', '#sync'].includes(kind)) return [];
  const what = kind.slice(1);
  return [{ key: frameKey(what, String(body.did), Number(body.seq)), what, arrivedUs }];
}

/** Form of the collections and keys of records. The adversarial traffic has others, whose records are not theirs. */
const nsid = /^[a-zA-Z][a-zA-Z0-9-]*(?:\.[a-zA-Z][a-zA-Z0-9-]*){2,}$/;
const recordKey = /^(?!\.\.?$)[A-Za-z0-9._:~-]{1,512}$/;

/** Decodes the operations of a commit, and checks that each record in its blocks belongs to its collection. */
function operationsOf({ repo, rev, ops, blocks }: JsonObject, arrivedUs: number): RelayEvent[] {
  if (!Array.isArray(ops) || !isBytes(blocks)) throw new Error('the commit is incomplete');
  const records = new Map<string, Uint8Array>();
  for (const { cid, bytes } of fromUint8Array(fromBytes(blocks))) records.set(toCidLink(cid).$link, bytes);
  return ops.filter(isObject).map(({ action, path, cid }) => {
    const [collection = '', rkey = ''] = String(path).split('/');
    const block = isCidLink(cid) ? records.get(cid.$link) : undefined;
    const record: unknown = block === undefined ? null : decode(block);
    const isValid = isObject(record) && record.$type === collection;
    if (action !== 'delete' && !isValid && nsid.test(collection) && recordKey.test(rkey)) {
      throw new Error(`the record of ${String(path)} is missing or belongs to another collection`);
    }
    const operation = String(action);
    return {
      key: operationKey({ did: String(repo), rev: String(rev), collection, rkey, operation }),
      what: `${collection} ${operation}`,
      arrivedUs,
    };
  });
}

/** Parts of an operation that occur in the relay's stream and in Jetstream's. */
interface Operation {
  readonly did: string;
  readonly rev: string;
  readonly collection: string;
  readonly rkey: string;
  readonly operation: string;
}

/** Returns the key of an operation. */
export function operationKey({ did, rev, collection, rkey, operation }: Operation): string {
  return [did, rev, collection, rkey, operation].join(' ');
}

/** Returns the key of a frame that is not a commit. `seq` is the relay's number. */
export function frameKey(kind: string, did: string, seq: number): string {
  return [kind, did, seq].join(' ');
}
