import { once } from 'node:events';
import { fromUint8Array } from '@atcute/car';
import { decode, fromBytes, isBytes, isCidLink, toCidLink } from '@atcute/cbor';
import { WebSocket } from 'ws';
import type { Species } from '../../sim/events/metrics.ts';
import { parseFrame } from '../../sim/events/parsed.ts';
import type { Block, EventSource } from '../../sim/events/source.ts';
import { framed, slot } from '../../sim/events/template.ts';
import { productionJson } from '../../sim/events/texts.ts';
import { eventsTemplate, type Wire } from '../../sim/events/wire.ts';
import { JetstreamServer } from '../../sim/jetstream/server.ts';
import type { Range } from '../../sim/ranges.ts';
import { Truth } from '../../sim/truth.ts';
import { isObject } from '../../src/input/json-budget.ts';
import { decodeFrame } from '../jetstream/firehose-witness.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An event as a Jetstream describes it in its legacy format, without the host's time and number. */
interface FirehoseEvent {
  readonly did: string;
  readonly kind: 'commit' | 'identity' | 'account';
  /** Content of the event. A Jetstream puts it into a property named after the kind. */
  readonly body: Fields;
}

/** A frame of `com.atproto.sync.subscribeRepos`. */
interface FirehoseFrame {
  /** Sequence number, or null for a frame that is not an event. */
  readonly seq: number | null;
  /** Events of the frame: one for each operation of a commit, none for a kind that is not converted. */
  readonly events: readonly FirehoseEvent[];
}

/** Decodes a frame. Throws on a malformed frame, and on an error frame, which ends the stream. */
export function parseFirehoseFrame(data: Uint8Array): FirehoseFrame {
  const { kind, body } = decodeFrame(data);
  const seq = typeof body.seq === 'number' ? body.seq : null;
  return { seq, events: eventsOf(kind, body) };
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
  const records = new Map<string, Uint8Array>();
  for (const { cid, bytes } of fromUint8Array(fromBytes(blocks))) records.set(toCidLink(cid).$link, bytes);
  return ops.filter(isObject).map(({ action, path, cid }) => {
    const [collection, rkey] = String(path).split('/');
    const head = { rev, operation: action, collection, rkey };
    if (!isCidLink(cid)) return { did: repo, kind: 'commit', body: head };
    const block = records.get(cid.$link);
    if (block === undefined) throw new Error(`the commit does not contain the record ${String(path)}`);
    return { did: repo, kind: 'commit', body: { ...head, record: decode(block), cid: cid.$link } };
  });
}

/** An event as one block for each protocol. */
type Blocks = Readonly<Record<Wire, Block>>;

/** Events that arrive while a Jetstream host serves them. They are numbered from 1, as a Jetstream numbers them. */
class FirehoseSource implements EventSource {
  readonly species: Species[] = [];
  readonly events: FirehoseEvent[] = [];
  readonly #blocks: Blocks[] = [];
  readonly #timeUs: number[] = [];

  /** Appends an event that arrived at `nowUs`. */
  append(event: FirehoseEvent, nowUs: number): void {
    const seq = this.#blocks.length + 1;
    const timeUs = Math.max(nowUs, (this.#timeUs.at(-1) ?? 0) + 1);
    const { did, kind, body } = event;
    const members = `"kind":"${kind}","${kind}":${productionJson(body)}`;
    const legacy = `{"did":"${did}","time_us":${slot.time},"cursor":${slot.seq},${members}}`;
    const iso = new Date(timeUs / 1000).toISOString().replace('Z', `${String(timeUs % 1000).padStart(3, '0')}Z`);
    const stamped = (template: string): string =>
      template.replaceAll(slot.time, String(timeUs)).replaceAll(slot.seq, String(seq)).replaceAll(slot.iso, iso);
    const text = stamped(legacy);
    const at = { first: seq, count: 1, timeUs: Float64Array.of(timeUs), species: Uint16Array.of(this.species.length) };
    const block = (frame: string): Block => {
      const bytes = Buffer.from(framed(Buffer.from(frame)));
      return { ...at, offsets: Float64Array.of(0, bytes.length), bytes };
    };
    this.species.push(parseFrame(text).species);
    this.events.push(event);
    this.#timeUs.push(timeUs);
    this.#blocks.push({
      'jetstream.legacy': block(text),
      'jetstream.subscribeEvents': block(stamped(eventsTemplate(legacy, { variedKeys: false }))),
    });
  }

  plan(seq: number): Block {
    return this.block(seq);
  }

  block(seq: number, wire: Wire = 'jetstream.legacy'): Block {
    const blocks = this.#blocks[seq - 1];
    if (blocks === undefined) throw new Error(`event ${seq} has not arrived`);
    return blocks[wire];
  }

  edge(): number {
    return this.#blocks.length + 1;
  }

  seek(timeUs: number): number {
    const found = this.#timeUs.findIndex((time) => time >= timeUs);
    return found < 0 ? this.edge() : found + 1;
  }

  span(): Range {
    return { from: 1, to: this.edge() };
  }

  oldest(): number {
    return 1;
  }
}

/** A Jetstream on a loopback address that serves the events of one real host of accounts. */
export interface JetstreamBridge {
  /** Address of the host, without a path. */
  readonly url: string;
  /** All events of the host so far, oldest first. */
  readonly events: readonly FirehoseEvent[];
  /** Sequence number of the last frame from the host of accounts. */
  readonly seq: number;
  /** Number of connected consumers. */
  readonly consumers: number;
  stop(): Promise<void>;
}

/** Subscribes to a host's `com.atproto.sync.subscribeRepos` from its first event, and serves the events as a Jetstream. */
export async function startJetstreamBridge(host: string): Promise<JetstreamBridge> {
  const source = new FirehoseSource();
  const nowUs = (): number => Date.now() * 1000;
  const server = new JetstreamServer({
    ...{ host: '127.0.0.1', port: 0, source, truth: new Truth(source), nowUs },
    ...{
      seqCursors: true,
      hasMethod: true,
      zstdDictionary: null,
      compactedShare: 0,
      announcesFuture: true,
      patienceMs: 5_000,
    },
  });
  const port = await server.start();
  const upstream = new WebSocket(`${host.replace('http', 'ws')}/xrpc/com.atproto.sync.subscribeRepos?cursor=0`);
  let last = 0;
  upstream.on('message', (data: Buffer) => {
    const { seq, events } = parseFirehoseFrame(data);
    for (const event of events) source.append(event, nowUs());
    last = seq ?? last;
  });
  await once(upstream, 'open');
  return {
    url: `ws://127.0.0.1:${port}`,
    events: source.events,
    get seq() {
      return last;
    },
    get consumers() {
      return server.connections.length;
    },
    async stop() {
      upstream.terminate();
      await server.stop();
    },
  };
}
