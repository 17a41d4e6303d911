import type { Duplex } from 'node:stream';
import { zstdCompressSync } from 'node:zlib';
import type { WebSocket } from 'ws';
import type { Block, EventSource } from '../events/source.ts';
import { framed, payloadOf } from '../events/template.ts';
import { fraction } from '../random.ts';
import { type Range, RangeSet } from '../ranges.ts';
import type { Delivery } from '../truth.ts';
import type { Liar } from './liar.ts';
import { passes, type Subscription } from './subscription.ts';

/** Size in bytes at which no more frames are added to a write. The last frame may exceed this size. */
const writeBytes = 512 * 1024;
/** Maximum number of seconds of traffic in one write. */
const writeParts = 64;
/** Maximum time for which a disconnected consumer may keep its side of the connection open, in milliseconds. */
const goodbyeMs = 5_000;
/** Minimum age of events that compaction may remove, in microseconds. */
const compactedUs = 4 * 3_600_000_000;

/** First byte of a complete binary message. */
const binary = 0x82;

/** Event source, socket and settings of a connection. */
interface ConnectionOptions {
  readonly id: number;
  readonly subscription: Subscription;
  readonly socket: Duplex;
  readonly webSocket: WebSocket;
  readonly source: EventSource;
  /** Events that no consumer receives. */
  readonly hidden: RangeSet;
  readonly delivery: Delivery;
  readonly nowUs: () => number;
  /** Number of the first event to send. */
  readonly start: number;
  /** Fault at the transition from replay to live traffic, or null for none. */
  readonly cutover: Cutover | null;
  /** Dictionary that compresses frames if the subscription requests it. */
  readonly zstdDictionary: Buffer | null;
  /** Frame that is sent first, as text; null for none. */
  readonly greeting: string | null;
  /** Share of the creates and updates that a replay of old history omits, from 0 to 1. */
  readonly compactedShare: number;
  /** Timeout of `subscribeEvents` for a write and for a pong, in milliseconds; null for no timeout. */
  readonly patienceMs: number | null;
  /** Returns the function that falsifies frames, or null while the host is honest. */
  readonly lie: () => Liar | null;
}

/** Consecutive events, encoded for one write. */
interface Part {
  readonly bytes: Buffer;
  readonly frames: number;
  readonly delivered: readonly Range[];
}

/** Fault in the order of events at the transition from replay to live traffic. */
export interface Cutover {
  /** Number of events before the transition that are affected. */
  readonly events: number;
  /** True to omit the older half of the events; false to send it late. */
  readonly lose: boolean;
  /** Called when the fault takes effect, with the numbers of the affected events. */
  readonly fired: (concerned: Range) => void;
}

/**
 * One consumer. The connection stores only its position and generates frames when the socket accepts them. At most one
 * write is pending, so a slow consumer needs no additional memory. Many frames are combined into one write to the raw
 * socket. Between writes, `ws` sends control frames on the same socket.
 */
export class Connection {
  readonly id: number;
  readonly delivery: Delivery;
  readonly webSocket: WebSocket;
  /**
   * State of the connection. `flowing`: sends events. `silent`: responds to pings but sends nothing. `half_open`:
   * neither sends nor reads.
   */
  mode: 'flowing' | 'silent' | 'half_open' = 'flowing';
  /** Maximum number of frames per second, or null for no limit. */
  framesPerSecond: number | null = null;
  /** Number of the next event to send. */
  next: number;
  readonly #options: ConnectionOptions;
  readonly #passing: boolean[] = [];
  readonly #extra: Range[] = [];
  #cutover: Cutover | null;
  #writing = false;
  #ending = false;
  #allowance = 0;
  #allowedAtUs: number;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.id = options.id;
    this.delivery = options.delivery;
    this.webSocket = options.webSocket;
    this.next = options.start;
    // A connection without a replay has no transition to live traffic.
    this.#cutover = options.start < options.source.edge(options.nowUs()) ? options.cutover : null;
    this.#allowedAtUs = options.nowUs();
    if (options.greeting !== null) this.sendText(options.greeting);
  }

  /** True if the connection uses `subscribeEvents`. */
  get isMethod(): boolean {
    return this.#options.subscription.wire === 'jetstream.subscribeEvents';
  }

  /** Sends a frame that is not an event. */
  sendText(text: string): void {
    const frame = framed(Buffer.from(text));
    this.#options.socket.write(this.#options.subscription.compressed ? this.#compressed(frame) : frame);
  }

  /** Closes the connection with a code and a reason. */
  closeWith(code: number, reason: string): void {
    this.#ending = true;
    this.webSocket.close(code, reason);
  }

  /** Sends a ping. If the consumer does not respond in time, its socket is destroyed without a close frame. */
  askForPong(): void {
    const deadline = this.#deadline();
    const over = (): void => clearTimeout(deadline);
    this.webSocket.once('pong', over);
    this.#options.socket.once('close', over);
    this.webSocket.ping();
  }

  /** Sends pending events unless a write is in progress. */
  pump(): void {
    if (this.#writing || this.#ending || this.mode !== 'flowing' || this.#options.socket.destroyed) return;
    const edge = this.#options.source.edge(this.#options.nowUs());
    this.#meetLive(edge);
    const extra = this.#extra[0];
    const seam = this.#cutover ? edge - this.#cutover.events : edge;
    const range = extra ?? { from: this.next, to: seam };
    const to = this.#send(range);
    if (extra === undefined) this.next = Math.max(this.next, to);
    else if (to < extra.to) this.#extra[0] = { from: to, to: extra.to };
    else this.#extra.shift();
  }

  /** Sends a range of events before all others, even if that repeats or reorders events. */
  sendFirst(range: Range): void {
    this.#extra.push(range);
  }

  /**
   * Stops sending, and ends the socket without a close frame or resets it. After a reset, some frames that are recorded
   * as delivered may not have arrived.
   */
  drop(how: 'end' | 'reset' | 'mid_frame'): void {
    this.#ending = true;
    const { socket, source } = this.#options;
    if (how === 'reset') {
      if ('resetAndDestroy' in socket && typeof socket.resetAndDestroy === 'function') socket.resetAndDestroy();
      else socket.destroy();
      return;
    }
    if (how === 'mid_frame') {
      const { bytes, offsets, first } = source.block(this.next, this.#options.subscription.wire);
      const from = offsets[this.next - first] ?? 0;
      socket.write(bytes.subarray(from, from + 40));
    }
    socket.end();
    // Destroy the socket later: an immediate reset would discard bytes that the consumer has not read yet.
    const deadline = setTimeout(() => socket.destroy(), goodbyeMs);
    socket.once('close', () => clearTimeout(deadline));
  }

  /** Stops reading, so that the host responds neither to pings nor to close frames. */
  halfOpen(): void {
    this.mode = 'half_open';
    this.#options.socket.pause();
  }

  /** Resumes reading and sending at full speed. */
  resume(): void {
    this.mode = 'flowing';
    this.framesPerSecond = null;
    this.#options.socket.resume();
  }

  #meetLive(edge: number): void {
    const cutover = this.#cutover;
    if (cutover === null || this.#extra.length > 0 || this.next < edge - cutover.events) return;
    this.#cutover = null;
    const concerned = { from: this.next, to: edge };
    const middle = Math.floor((this.next + edge) / 2);
    this.#extra.push({ from: middle, to: edge });
    if (!cutover.lose) this.#extra.push({ from: this.next, to: middle });
    this.next = edge;
    cutover.fired(concerned);
  }

  /** Writes as much of a range as fits into one write. Returns the number of the first event that was not written. */
  #send({ from, to }: Range): number {
    const parts: Buffer[] = [];
    const sent: Range[] = [];
    let bytes = 0;
    let frames = 0;
    let at = from;
    let allowance = this.#take();
    while (at < to && bytes < writeBytes && parts.length < writeParts && allowance > 0) {
      const gap = this.#options.hidden.at(at);
      if (gap && gap.from <= at) {
        at = gap.to;
        continue;
      }
      const block = this.#options.source.block(at, this.#options.subscription.wire);
      const end = Math.min(to, gap?.from ?? to, block.first + block.count, at + allowance);
      const until = this.#fitting(block, at, end, writeBytes - bytes);
      const part = this.#gather(block, at, until);
      sent.push(...part.delivered);
      allowance -= until - at;
      frames += part.frames;
      bytes += part.bytes.length;
      if (part.bytes.length > 0) parts.push(part.bytes);
      at = until;
    }
    if (this.framesPerSecond !== null) this.#allowance = allowance;
    if (at > from) this.#write(parts, sent, frames);
    return Math.min(at, Math.max(to, from));
  }

  /**
   * Returns the number after the last event that fits into `bytes`, starting at `at`. At least one event is included.
   */
  #fitting({ first, offsets }: Block, at: number, end: number, bytes: number): number {
    const from = offsets[at - first] ?? 0;
    let low = at + 1;
    let high = end;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((offsets[middle - first] ?? 0) - from <= bytes) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #gather(block: Block, from: number, to: number): Part {
    const { first, offsets, species } = block;
    const liar = this.#options.lie();
    if (liar !== null) return this.#lies(block, from, to, liar);
    const { wantedCollections, kinds, compressed } = this.#options.subscription;
    const isCompacted = this.#isCompacted(block.timeUs[from - first] ?? 0);
    if (this.#hidesNothing() && wantedCollections.length + kinds.length === 0 && !compressed && !isCompacted) {
      const whole = block.bytes.subarray(offsets[from - first], offsets[to - first]);
      return { bytes: whole, frames: to - from, delivered: [{ from, to }] };
    }
    const wanted: Uint8Array[] = [];
    const delivered = new RangeSet();
    for (let at = from - first; at < to - first; at++) {
      if (isCompacted && this.#isGone(first + at, species[at] ?? 0)) continue;
      delivered.add({ from: first + at, to: first + at + 1 });
      if (!this.#passes(species[at] ?? 0)) continue;
      const frame = block.bytes.subarray(offsets[at], offsets[at + 1]);
      wanted.push(compressed ? this.#compressed(frame) : frame);
    }
    return { bytes: Buffer.concat(wanted), frames: wanted.length, delivered: delivered.list };
  }

  /** Returns true if the connection's protocol carries all events of the source. */
  #hidesNothing(): boolean {
    return this.isMethod || !this.#options.source.species.some(({ methodOnly }) => methodOnly);
  }

  #isCompacted(timeUs: number): boolean {
    return this.#options.compactedShare > 0 && timeUs < this.#options.nowUs() - compactedUs;
  }

  /**
   * Returns true if compaction removed an event. The same events are removed for every consumer. It removes only
   * creates and updates.
   */
  #isGone(seq: number, species: number): boolean {
    const metrics = this.#options.source.species[species]?.metrics ?? [];
    const mayGo = metrics.some((name) => name.endsWith('.create') || name.endsWith('.update'));
    return mayGo && fraction(0xc0de, seq % 2 ** 31) < this.#options.compactedShare;
  }

  #lies({ first, offsets, bytes }: Block, from: number, to: number, liar: Liar) {
    const told: Uint8Array[] = [];
    for (let at = from - first; at < to - first; at++) {
      const honest = payloadOf(bytes.subarray(offsets[at], offsets[at + 1]));
      for (const payload of liar.lie(honest)) {
        if (!this.#options.subscription.compressed) told.push(framed(payload));
        else {
          const packed = liar.pack(payload, (plain) => this.#packed(plain));
          told.push(framed(packed.payload, packed.isBinary ? binary : undefined));
        }
      }
    }
    // Events that were replaced with false frames do not count as delivered.
    return { bytes: Buffer.concat(told), frames: told.length, delivered: [] };
  }

  #compressed(frame: Uint8Array): Uint8Array {
    return framed(this.#packed(payloadOf(frame)), binary);
  }

  #packed(payload: Uint8Array): Uint8Array {
    const dictionary = this.#options.zstdDictionary ?? undefined;
    return zstdCompressSync(payload, dictionary ? { dictionary } : {});
  }

  #passes(species: number): boolean {
    const known = this.#passing[species];
    if (known !== undefined) return known;
    const meaning = this.#options.source.species[species];
    const answer = meaning !== undefined && passes(this.#options.subscription, meaning);
    this.#passing[species] = answer;
    return answer;
  }

  #write(parts: readonly Buffer[], sent: readonly Range[], frames: number): void {
    const { socket, delivery } = this.#options;
    const deadline = this.isMethod ? this.#deadline() : undefined;
    const done = (error?: Error | null): void => {
      clearTimeout(deadline);
      this.#writing = false;
      if (error) {
        delivery.fail(sent);
        return;
      }
      delivery.add(sent, frames);
      // Defer the next write, so that a fast consumer does not block all other work in this process.
      setImmediate(() => this.pump());
    };
    this.#writing = true;
    const last = parts.at(-1);
    if (last === undefined) {
      done();
      return;
    }
    socket.cork();
    for (const part of parts.slice(0, -1)) socket.write(part);
    socket.write(last, done);
    socket.uncork();
  }

  /** Starts a timer that destroys the socket without a close frame, unless the caller clears it in time. */
  #deadline(): NodeJS.Timeout | undefined {
    const { socket, patienceMs } = this.#options;
    return patienceMs === null ? undefined : setTimeout(() => socket.destroy(), patienceMs);
  }

  /** Returns the number of frames that may be sent now. */
  #take(): number {
    const now = this.#options.nowUs();
    const elapsed = (now - this.#allowedAtUs) / 1_000_000;
    this.#allowedAtUs = now;
    if (this.framesPerSecond === null) return Number.MAX_SAFE_INTEGER;
    this.#allowance = Math.min(this.framesPerSecond, this.#allowance + elapsed * this.framesPerSecond);
    return Math.floor(this.#allowance);
  }
}
