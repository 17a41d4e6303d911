import type { FrameStyle } from '../events/frames.ts';
import type { GeneratedSource } from '../events/generated.ts';
import { hugeFrame, malformedFrames, type RareFrame, resyncFrames, unknownFrames } from '../events/rare-frames.ts';
import type { EventSource } from '../events/source.ts';
import { errorFrame } from '../events/wire.ts';
import { type Dice, dice } from '../random.ts';
import type { Truth } from '../truth.ts';
import type { Connection, Cutover } from './connection.ts';
import type { HandshakeFaults } from './handshake-faults.ts';
import { createLiar, type Liar } from './liar.ts';

/** Names of all faults that can be injected into the host. */
const faultNames = [
  'drop',
  'silence',
  'half_open',
  'slow',
  'skip',
  'mute',
  'repeat',
  'reorder_at_cutover',
  'replay_earlier',
  'clamp_cursor',
  'future_cursor',
  'batch_time',
  'malformed',
  'huge',
  'unknown',
  'refuse',
  'liar',
  'resync',
  'too_slow',
  'going_away',
] as const;
/** Name of a fault. */
export type FaultName = (typeof faultNames)[number];

/** Record of a fault that took effect. */
interface FaultRecord {
  readonly fault: FaultName;
  /** Time at which the fault took effect, in microseconds of the simulated clock. */
  readonly atUs: number;
  /** Ids of the affected connections; empty if the fault affects all future consumers. */
  readonly connections: readonly number[];
  /** Number of the first affected event, or null if the fault affects no event. */
  readonly fromSeq: number | null;
  /** Number after the last affected event, or null if the fault affects no event. */
  readonly toSeq: number | null;
}

/** Selects one connection. Without it, a fault affects every open connection. */
interface OneConnection {
  readonly connection?: number;
}

/** Collections (NSIDs) that a host does not send for a number of seconds of stream time. */
interface Mute {
  readonly collections: readonly string[];
  readonly seconds: number;
  readonly replaced?: boolean;
}

/** Parts of the simulated network on which the faults act. */
interface FaultScope {
  readonly source: EventSource;
  /** Source of generated events; null for recorded frames, which are never altered. */
  readonly generated: GeneratedSource | null;
  readonly style: FrameStyle;
  readonly seed: number;
  readonly truth: Truth;
  readonly connections: () => readonly Connection[];
  readonly nowUs: () => number;
}

/** Maximum number of log entries. The oldest entries are dropped; the counters include all faults. */
const logLimit = 10_000;

/**
 * The fault switches. Faults of a connection take effect immediately and return their record. Faults of a handshake or
 * of the transition to live traffic take effect at the next handshake or transition, and are counted then. The record
 * of events takes every fault into account: hidden events stay hidden, replaced events count as their replacement, and
 * deliveries contain the frames that were actually sent.
 */
export class Faults implements HandshakeFaults {
  /** Number of times that each fault took effect. */
  readonly fired: Record<FaultName, number> = Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<
    FaultName,
    number
  >;
  /** Faults that took effect, oldest first. */
  readonly log: FaultRecord[] = [];
  readonly #scope: FaultScope;
  readonly #chance: Dice;
  readonly #huge = new Map<number, number>();
  #malformed: Map<string, number> | null = null;
  #unknown: Map<string, number> | null = null;
  #refusals: { readonly status: number; readonly message: string; times: number } | null = null;
  #nextStart: ((connection: number, cursorUs: number, honest: number) => number) | null = null;
  #nextCutover: { readonly events: number; readonly lose: boolean } | null = null;
  #liar: Liar | null = null;

  constructor(scope: FaultScope) {
    this.#scope = scope;
    this.#chance = dice(scope.seed ^ 0xfa17);
  }

  /** Ends the socket after the last byte (`end`), immediately (`reset`), or within a frame, without a close frame. */
  drop({ how = 'end', ...which }: OneConnection & { readonly how?: 'end' | 'reset' | 'mid_frame' } = {}): FaultRecord {
    return this.#each('drop', which, (connection) => connection.drop(how));
  }

  /** Sends nothing but pongs until `resume`. The withheld events are sent afterwards. */
  silence(which: OneConnection = {}): FaultRecord {
    return this.#each('silence', which, (connection) => {
      connection.mode = 'silent';
    });
  }

  /**
   * Stops sending and reading until `resume`. The host then responds neither to pings nor to close frames, and the
   * socket stays open.
   */
  halfOpen(which: OneConnection = {}): FaultRecord {
    return this.#each('half_open', which, (connection) => connection.halfOpen());
  }

  /** Limits the number of frames per second until `resume`. */
  slow({ framesPerSecond, ...which }: OneConnection & { readonly framesPerSecond: number }): FaultRecord {
    return this.#each('slow', which, (connection) => {
      connection.framesPerSecond = framesPerSecond;
    });
  }

  /** Ends `silence`, `halfOpen` and `slow`. */
  resume(which: OneConnection = {}): void {
    for (const connection of this.#which(which)) connection.resume();
  }

  /**
   * Permanently withholds the next events from every consumer. Their number is given directly or as seconds of stream
   * time. The first one is the next event of the most advanced connection.
   */
  skip({
    events,
    seconds,
    ...which
  }: OneConnection & { readonly events?: number; readonly seconds?: number }): FaultRecord {
    const { source, truth } = this.#scope;
    const touched = this.#which(which);
    const from = touched.length > 0 ? Math.max(...touched.map(({ next }) => next)) : this.#edge();
    const to = seconds === undefined ? from + (events ?? 1) : source.seek(truth.timeOf(from) + seconds * 1_000_000);
    truth.hidden.add({ from, to });
    return this.#fire('skip', touched, from, to);
  }

  /**
   * Permanently withholds the events of some collections (NSIDs) from every consumer for a number of seconds of stream
   * time, as a host that loses these events would. Their sequence numbers are then missing in `subscribeEvents` frames.
   * With `replaced`, other events take these numbers, as on a host that never received the events.
   */
  mute({ collections, seconds, replaced = false }: Mute): FaultRecord {
    const { source, truth } = this.#scope;
    const from = this.#edge();
    const to = source.seek(truth.timeOf(from) + seconds * 1_000_000);
    const muted: number[] = [];
    for (let seq = from; seq < to; ) {
      const { first, count, species } = source.plan(seq);
      for (; seq < Math.min(to, first + count); seq += 1) {
        const collection = source.species[species[seq - first] ?? 0]?.collection ?? null;
        if (collection !== null && collections.includes(collection)) muted.push(seq);
      }
    }
    const other = replaced ? (this.#unknownFrames().get('untracked collection') ?? 0) : 0;
    if (replaced) for (const seq of muted) this.#alterable().replace(seq, [other]);
    else for (const seq of muted) truth.hidden.add({ from: seq, to: seq + 1 });
    return this.#fire('mute', this.#scope.connections(), from, to);
  }

  /** Sends the last events again, with their original numbers and times. */
  repeat({ events, ...which }: OneConnection & { readonly events: number }): FaultRecord {
    const touched = this.#which(which);
    const ranges = touched.map((connection) => {
      const range = { from: Math.max(connection.next - events, this.#oldest()), to: connection.next };
      connection.sendFirst(range);
      return range;
    });
    return this.#fire('repeat', touched, ranges[0]?.from ?? null, ranges[0]?.to ?? null);
  }

  /**
   * At the next transition from replay to live traffic, sends the newer half of the given number of events first, and
   * the older half later or never.
   */
  reorderAtCutover({ events, lose = false }: { readonly events: number; readonly lose?: boolean }): void {
    this.#nextCutover = { events, lose };
  }

  /** Makes the next replay begin earlier than its cursor, by a number of seconds. */
  replayEarlier({ seconds }: { readonly seconds: number }): void {
    this.#nextStart = (connection, cursorUs, honest) => {
      const { source } = this.#scope;
      const start = Math.max(source.seek(cursorUs - seconds * 1_000_000), this.#oldest());
      this.#fire('replay_earlier', [{ id: connection }], start, honest);
      return start;
    };
  }

  /** Limits the age of the next cursor: an older cursor is moved forward without a notice. */
  clampCursor({ seconds }: { readonly seconds: number }): void {
    this.#nextStart = (connection, _, honest) => {
      const start = Math.max(honest, this.#scope.source.seek(this.#scope.nowUs() - seconds * 1_000_000));
      this.#fire('clamp_cursor', [{ id: connection }], honest, start);
      return start;
    };
  }

  /** Treats the next cursor as lying in the future: the connection replays nothing and starts with live events. */
  futureCursor(): void {
    this.#nextStart = (connection, _, honest) => {
      const start = this.#edge();
      this.#fire('future_cursor', [{ id: connection }], honest, start);
      return start;
    };
  }

  /** For a number of seconds of stream time, gives every `size` consecutive events the same `time_us`. */
  batchTime({ size, seconds }: { readonly size: number; readonly seconds: number }): FaultRecord {
    const fromUs = Math.floor(this.#scope.nowUs()) + 1;
    const toUs = fromUs + seconds * 1_000_000;
    this.#alterable().batch(fromUs, toUs, size);
    const { source } = this.#scope;
    return this.#fire('batch_time', [], source.seek(fromUs), source.seek(toUs));
  }

  /** Replaces the next events with frames that cannot be counted. Uses the given variants in turn, by default all. */
  malformed({ events, variants }: { readonly events: number; readonly variants?: readonly string[] }): FaultRecord {
    this.#malformed ??= this.#added(malformedFrames(this.#scope.style, this.#chance));
    return this.#replace('malformed', events, variants, this.#malformed);
  }

  /**
   * Replaces the next events with events of unknown kinds and rare shapes. Uses the given variants in turn, by default
   * all.
   */
  unknown({ events, variants }: { readonly events: number; readonly variants?: readonly string[] }): FaultRecord {
    return this.#replace('unknown', events, variants, this.#unknownFrames());
  }

  /** Replaces the next events with posts of approximately the given number of bytes. */
  huge({ events = 1, bytes }: { readonly events?: number; readonly bytes: number }): FaultRecord {
    const { catalogue } = this.#alterable();
    const frame = hugeFrame(bytes, this.#scope.style, this.#chance);
    const template = this.#huge.get(bytes) ?? catalogue.add(frame.text, frame.species);
    this.#huge.set(bytes, template);
    return this.#replace('huge', events, undefined, new Map([['huge', template]]));
  }

  /**
   * Replaces the next event with a `sync` of one account, and some of the following events with rows that repeat the
   * account's repository. The rows have the time of the `sync`. Only `subscribeEvents` shows the `sync` and its rows.
   */
  resync({ rows, every = 2 }: { readonly rows: number; readonly every?: number }): FaultRecord {
    const source = this.#alterable();
    const { sync, rows: kinds } = resyncFrames(this.#scope.style, this.#chance);
    const known = this.#added([sync, ...kinds]);
    const templates = kinds.map(({ name }) => known.get(name) ?? 0);
    const first = this.#edge();
    source.replace(first, [known.get(sync.name) ?? 0]);
    const seqs = Array.from({ length: rows }, (_, row) => first + 1 + row * every);
    for (const [row, seq] of seqs.entries()) source.replace(seq, [templates[row % templates.length] ?? 0]);
    source.stampAs(seqs, first);
    return this.#fire('resync', [], first, (seqs.at(-1) ?? first) + 1);
  }

  /** Ends connections of slow consumers without a close frame; `subscribeEvents` first sends ConsumerTooSlow. */
  tooSlow(which: OneConnection = {}): FaultRecord {
    return this.#each('too_slow', which, (connection) => {
      const message = `reading below the floor rate 0 events behind the tip; reconnect with cursor=${connection.next}`;
      if (connection.isMethod) connection.sendText(errorFrame('ConsumerTooSlow', message));
      connection.drop('end');
    });
  }

  /** Closes connections with the close code 1001 (going away). */
  goingAway(which: OneConnection = {}): FaultRecord {
    return this.#each('going_away', which, (connection) => connection.closeWith(1001, 'server shutting down'));
  }

  /** Refuses the next handshakes with an HTTP status and a text. */
  refuse(how: { readonly status: number; readonly message?: string; readonly times?: number }): void {
    this.#refusals = { message: 'refused by an injected fault', times: 1, ...how };
  }

  /** Replaces frames on every connection with false ones until `honest` is called; see `createLiar`. */
  liar(): FaultRecord {
    this.#liar = createLiar({ seed: this.#scope.seed, nowUs: this.#scope.nowUs });
    return this.#fire('liar', this.#scope.connections(), null, null);
  }

  /** Ends the effect of `liar`. */
  honest(): void {
    this.#liar = null;
  }

  lie(): Liar | null {
    return this.#liar;
  }

  refusal(): { readonly status: number; readonly message: string } | null {
    const refusals = this.#refusals;
    if (refusals === null || refusals.times <= 0) return null;
    refusals.times -= 1;
    this.#fire('refuse', [], null, null);
    return refusals;
  }

  start(connection: number, cursorUs: number | null, honest: number): number {
    const armed = this.#nextStart;
    if (armed === null || cursorUs === null) return honest;
    this.#nextStart = null;
    return armed(connection, cursorUs, honest);
  }

  cutover(connection: number): Cutover | null {
    const armed = this.#nextCutover;
    if (armed === null) return null;
    return {
      ...armed,
      fired: ({ from, to }) => {
        this.#nextCutover = null;
        this.#fire('reorder_at_cutover', [{ id: connection }], from, to);
      },
    };
  }

  #added(frames: readonly RareFrame[]): Map<string, number> {
    const { catalogue } = this.#alterable();
    return new Map(frames.map(({ name, text, species }) => [name, catalogue.add(text, species)]));
  }

  #replace(
    fault: FaultName,
    events: number,
    variants: readonly string[] | undefined,
    known: ReadonlyMap<string, number>,
  ): FaultRecord {
    const names = variants ?? [...known.keys()];
    const templates = Array.from({ length: events }, (_, step) => {
      const template = known.get(names[step % names.length] ?? '');
      if (template === undefined) throw new RangeError(`unknown variant; choose from ${[...known.keys()].join(', ')}`);
      return template;
    });
    const from = this.#edge();
    this.#alterable().replace(from, templates);
    return this.#fire(fault, [], from, from + events);
  }

  #unknownFrames(): Map<string, number> {
    this.#unknown ??= this.#added(unknownFrames(this.#scope.style, this.#chance));
    return this.#unknown;
  }

  #alterable(): GeneratedSource {
    if (this.#scope.generated) return this.#scope.generated;
    throw new Error('recorded frames are served verbatim: this fault requires generated traffic');
  }

  #each(fault: FaultName, which: OneConnection, act: (connection: Connection) => void): FaultRecord {
    const touched = this.#which(which);
    for (const connection of touched) act(connection);
    return this.#fire(fault, touched, null, null);
  }

  #which({ connection }: OneConnection): readonly Connection[] {
    return this.#scope.connections().filter(({ id }) => connection === undefined || id === connection);
  }

  #edge(): number {
    return this.#scope.source.edge(this.#scope.nowUs());
  }

  #oldest(): number {
    return this.#scope.source.oldest(this.#scope.nowUs());
  }

  #fire(
    fault: FaultName,
    connections: readonly { readonly id: number }[],
    fromSeq: number | null,
    toSeq: number | null,
  ): FaultRecord {
    const ids = connections.map(({ id }) => id);
    const record = { fault, atUs: this.#scope.nowUs(), connections: ids, fromSeq, toSeq };
    this.fired[fault] += 1;
    this.log.push(record);
    if (this.log.length > logLimit) this.log.shift();
    return record;
  }
}
