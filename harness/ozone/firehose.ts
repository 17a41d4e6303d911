import { decode, decodeFirst, fromBytes, fromCidLink, isBytes, isCidLink } from '@atcute/cbor';
import { isObject } from '../../src/input/json-budget.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An event as a Jetstream describes it in its legacy format, without the host's time and number. */
export interface FirehoseEvent {
  readonly did: string;
  readonly kind: 'commit' | 'identity' | 'account';
  /** Content of the event. A Jetstream puts it into a property named after the kind. */
  readonly body: Fields;
}

/** A frame of `com.atproto.sync.subscribeRepos`. */
export interface FirehoseFrame {
  /** Sequence number, or null for a frame that is not an event. */
  readonly seq: number | null;
  /** Events of the frame: one for each operation of a commit, none for a kind that is not converted. */
  readonly events: readonly FirehoseEvent[];
}

/** Decodes a frame. Throws on a malformed frame, and on an error frame, which ends the stream. */
export function parseFirehoseFrame(data: Uint8Array): FirehoseFrame {
  const [header, rest]: [unknown, Uint8Array] = decodeFirst(data);
  const body: unknown = decode(rest);
  if (!isObject(header) || !isObject(body)) throw new Error('the frame is not a pair of objects');
  if (header.op !== 1) throw new Error(`the host ended the stream: ${String(body.error)}`);
  const seq = typeof body.seq === 'number' ? body.seq : null;
  return { seq, events: eventsOf(header.t, body) };
}

function eventsOf(type: unknown, body: Fields): FirehoseEvent[] {
  if (type === '#commit') return commitsOf(body);
  const { did, handle, seq, time, active, status } = body;
  if (typeof did !== 'string') return [];
  if (type === '#identity') return [{ did, kind: 'identity', body: { did, handle, seq, time } }];
  if (type === '#account') return [{ did, kind: 'account', body: { active, did, seq, status, time } }];
  return [];
}

function commitsOf({ repo, rev, ops, blocks }: Fields): FirehoseEvent[] {
  if (typeof repo !== 'string' || !Array.isArray(ops) || !isBytes(blocks)) throw new Error('the commit is incomplete');
  const records = readCar(fromBytes(blocks));
  return ops.filter(isObject).map(({ action, path, cid }) => {
    const [collection, rkey] = String(path).split('/');
    const head = { rev, operation: action, collection, rkey };
    if (!isCidLink(cid)) return { did: repo, kind: 'commit', body: head };
    const block = records.get(Buffer.from(fromCidLink(cid).bytes).toString('hex'));
    if (block === undefined) throw new Error(`the commit does not contain the record ${String(path)}`);
    return { did: repo, kind: 'commit', body: { ...head, record: decode(block), cid: cid.$link } };
  });
}

/** Length of every CID in a repository, in bytes: version, codec, and a SHA-256 hash with its two-byte prefix. */
const cidLength = 36;

/** Returns the blocks of a CAR file by CID in hexadecimal. */
function readCar(car: Uint8Array): Map<string, Uint8Array> {
  const blocks = new Map<string, Uint8Array>();
  const header = readVarint(car, 0);
  let at = header.end + header.value;
  while (at < car.length) {
    const { value: length, end } = readVarint(car, at);
    const cid = car.subarray(end, end + cidLength);
    blocks.set(Buffer.from(cid).toString('hex'), car.subarray(end + cidLength, end + length));
    at = end + length;
  }
  return blocks;
}

function readVarint(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = at;
  let byte: number;
  do {
    byte = bytes[end] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (end - at));
    end += 1;
  } while (byte >= 0x80);
  return { value, end };
}
