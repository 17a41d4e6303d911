import type { FrameStyle } from '../events/frames.ts';
import type { GeneratedSource } from '../events/generated.ts';
import { hugeFrame, malformedFrames, type RareFrame, resyncFrames, unknownFrames } from '../events/rare-frames.ts';
import type { EventSource } from '../events/source.ts';
import { errorFrame } from '../events/wire.ts';
import { type Dice, dice } from '../random.ts';
import type { Truth } from '../truth.ts';
import type { Connection, Cutover } from './connection.ts';
import type { HandshakeFaults } from './handshake-faults.ts';
import { createLiar, type Lie } from './liar.ts';

/** All faults that can be injected into the host. */
export const faultNames = [
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
export interface FaultRecord {
  readonly fault: FaultName;
  /** Time at which the fault took effect, in microseconds of the simulated clock. */
  readonly atUs: number;
  /** Numbers of the affected connections. The list is empty if all future consumers are affected. */
  readonly connections: readonly number[];
  /** Number of the first affected event, or null if no event is affected. */
  readonly fromSeq: number | null;
  readonly toSeq: number | null;
}

/** Selects one connection; without a selection, a fault affects every open connection. */
export interface OneConnection {
  readonly connection?: number;
}

/** Collections (NSIDs) whose events a host does not send, for a number of seconds of the stream. */
interface Mute {
  readonly collections: readonly string[];
  readonly seconds: number;
  readonly replaced?: boolean;
}

/** Parts of the simulated network that the faults change. */
export interface FaultScope {
  readonly source: EventSource;
  /** Source of generated events, or null for recorded frames, which are never altered. */
  readonly generated: GeneratedSource | null;
  readonly style: FrameStyle;
  readonly seed: number;
  readonly truth: Truth;
  readonly connections: () => readonly Connection[];
  readonly nowUs: () => number;
}

/** Maximum number of faults in the log; the counters include later ones. */
const logLimit = 10_000;

/**
 * The fault switches. Faults of a connection take effect immediately and return their record. Faults of a handshake or
 * a transition take effect at the next one, and are counted then. The record of events includes every fault: hidden
 * events stay hidden, replaced events are counted as their replacement, and deliveries contain the frames that were
 * sent.
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
  #refusals: { readonly status: number; times: number } | null = null;
  #nextStart: ((connection: number, cursorUs: number, honest: number) => number) | null = null;
  #nextCutover: { readonly events: number; readonly lose: boolean } | null = null;
  #lie: Lie | null = null;

  constructor(scope: FaultScope) {
    this.#scope = scope;
    this.#chance = dice(scope.seed ^ 0xfa17);
  }

  /** Ends the socket without a close frame: after the last byte (`end`), immediately (`reset`), or within a frame. */
  drop({ how = 'end', ...which }: OneConnection & { readonly how?: 'end' | 'reset' | 'mid_frame' } = {}): FaultRecord {
    return this.#each('drop', which, (connection) => connection.drop(how));
  }

  /** Sends nothing until `resume`, except pongs. The events of the silent time are sent afterwards. */
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

  /** Ends the effects of `silence`, `halfOpen` and `slow`. */
  resume(which: OneConnection = {}): void {
    for (const connection of this.#which(which)) connection.resume();
  }

  /**
   * Withholds the next events permanently from every consumer, by number of events or by seconds of the stream. The
   * first withheld event is at the position of the most advanced connection.
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
   * Withholds events of some collections (NSIDs) permanently from every consumer, for a number of seconds of the
   * stream, like a host that loses them. The numbers of these events are missing in the frames of the method, unless other
   * events replace them (`replaced`), as on a host that never received them.
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
   * Sends the newer half of these events first at the next transition from replay to live traffic, and the older half
   * late or never.
   */
  reorderAtCutover({ events, lose = false }: { readonly events: number; readonly lose?: boolean }): void {
    this.#nextCutover = { events, lose };
  }

  /** Makes the next replay begin the given time before its cursor. */
  replayEarlier({ seconds }: { readonly seconds: number }): void {
    this.#nextStart = (connection, cursorUs, honest) => {
      const { source } = this.#scope;
      const start = Math.max(source.seek(cursorUs - seconds * 1_000_000), this.#oldest());
      this.#fire('replay_earlier', [{ id: connection }], start, honest);
      return start;
    };
  }

  /** Moves the next cursor that is older than the given age forward to that age, without a notice. */
  clampCursor({ seconds }: { readonly seconds: number }): void {
    this.#nextStart = (connection, _, honest) => {
      const start = Math.max(honest, this.#scope.source.seek(this.#scope.nowUs() - seconds * 1_000_000));
      this.#fire('clamp_cursor', [{ id: connection }], honest, start);
      return start;
    };
  }

  /** Treats the next cursor as a cursor in the future, so that nothing is replayed and the connection is live. */
  futureCursor(): void {
    this.#nextStart = (connection, _, honest) => {
      const start = this.#edge();
      this.#fire('future_cursor', [{ id: connection }], honest, start);
      return start;
    };
  }

  /** Gives every `size` consecutive events the same `time_us` from now on, for a number of seconds of the stream. */
  batchTime({ size, seconds }: { readonly size: number; readonly seconds: number }): FaultRecord {
    const fromUs = Math.floor(this.#scope.nowUs()) + 1;
    const toUs = fromUs + seconds * 1_000_000;
    this.#alterable().batch(fromUs, toUs, size);
    const { source } = this.#scope;
    return this.#fire('batch_time', [], source.seek(fromUs), source.seek(toUs));
  }

  /** Replaces the next events by frames that cannot be counted. Uses the named variants, or each variant in turn. */
  malformed({ events, variants }: { readonly events: number; readonly variants?: readonly string[] }): FaultRecord {
    this.#malformed ??= this.#added(malformedFrames(this.#scope.style, this.#chance));
    return this.#replace('malformed', events, variants, this.#malformed);
  }

  /**
   * Replaces the next events by events of unknown kinds and rare shapes. Uses the named variants, or each variant in
   * turn.
   */
  unknown({ events, variants }: { readonly events: number; readonly variants?: readonly string[] }): FaultRecord {
    return this.#replace('unknown', events, variants, this.#unknownFrames());
  }

  /** Replaces the next events by posts of about the given number of bytes. */
  huge({ events = 1, bytes }: { readonly events?: number; readonly bytes: number }): FaultRecord {
    const { catalogue } = this.#alterable();
    const frame = hugeFrame(bytes, this.#scope.style, this.#chance);
    const template = this.#huge.get(bytes) ?? catalogue.add(frame.text, frame.species);
    this.#huge.set(bytes, template);
    return this.#replace('huge', events, undefined, new Map([['huge', template]]));
  }

  /**
   * Replaces the next events by a `sync` of one account and, interleaved with events of others, the rows that repeat
   * its repository. Rows have the time of the `sync`. Only the method shows the `sync` and its rows.
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

  /** Sends ConsumerTooSlow to consumers of the method, and closes their connections. */
  tooSlow(which: OneConnection = {}): FaultRecord {
    return this.#each('too_slow', which, (connection) => {
      const message = `reading below the floor rate; reconnect with cursor=${connection.next}`;
      connection.closeWith(1008, connection.isMethod ? errorFrame('ConsumerTooSlow', message) : null);
    });
  }

  /** Closes connections like a host that is being moved. */
  goingAway(which: OneConnection = {}): FaultRecord {
    return this.#each('going_away', which, (connection) => connection.closeWith(1001, null));
  }

  /** Refuses the next handshakes with a status. */
  refuse({ status, times = 1 }: { readonly status: number; readonly times?: number }): void {
    this.#refusals = { status, times };
  }

  /** Replaces frames on every connection by false ones until `honest`; see `createLiar`. */
  liar(): FaultRecord {
    this.#lie = createLiar({ seed: this.#scope.seed, nowUs: this.#scope.nowUs });
    return this.#fire('liar', this.#scope.connections(), null, null);
  }

  /** Ends the replacement of frames by false ones. */
  honest(): void {
    this.#lie = null;
  }

  lie(): Lie | null {
    return this.#lie;
  }

  refusal(): number | null {
    const refusals = this.#refusals;
    if (refusals === null || refusals.times <= 0) return null;
    refusals.times -= 1;
    this.#fire('refuse', [], null, null);
    return refusals.status;
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
