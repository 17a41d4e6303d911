import { createIntake, type SourceIntake } from '../../src/labels/ingest/intake.ts';
import { batchOf, note, type ReaderPorts } from '../../src/labels/ingest/ports.ts';
import { RefusedMemory } from '../../src/labels/ingest/refused-memory.ts';
import type { ListedLabeler } from '../../src/labels/publish/labelers/listed-labeler.ts';
import { recordCaughtUp, unread } from '../../src/labels/reading/catch-up.ts';
import { FilledIn } from '../../src/labels/state/filled-in.ts';
import type { TrackedState } from '../../src/labels/state/reading-state.ts';
import type { Source } from '../../src/labels/state/source.ts';
import { changedGaps } from '../../src/store/gaps.ts';
import type { Batch, GapChange, Position, StoredGap } from '../../src/store/port.ts';
import { hour, micros, second } from '../../src/store/time.ts';
import { newSource, scriptedPorts } from './label-reader.ts';

/** An outage of the instrument, of its network, or of the labeler with the given index. */
export interface SimulatedOutage {
  readonly kind: 'instrument' | 'network' | number;
  readonly start: number;
  readonly end: number;
}

/** Interval of the simulated clock, in microseconds. */
const tick = 30 * second;
/** Maximum number of rows of a page while a labeler is filled in; one page is read in each interval. */
const pageRows = 50;
/** Number of intervals between two writes of the roster. */
const rosterEvery = 20;

interface Running {
  readonly source: Source;
  readonly intake: SourceIntake;
  isLive: boolean;
}

/**
 * Labelers that emit labels at known times, and the label instrument that reads them by its own rules through outages,
 * on a simulated clock. Admission, the states, the gaps and the catch-ups are those of the instrument.
 */
export class SimulatedOutages {
  readonly dids: readonly string[];
  readonly startedAt: number;
  readonly positions = new Map<string, Position>();
  gaps: StoredGap[] = [];
  readonly #accepted: (labeler: string, at: number) => void;
  /** Number of labels that a labeler emits in an hour, by the number of the hour since 1970. */
  readonly #perHour: (labeler: number, hourNumber: number) => number;
  readonly #outages: readonly SimulatedOutage[];
  readonly #tracked = new Map<string, TrackedState>();
  readonly #emittedTo: number[];
  readonly #stored: number[];
  readonly #pending: { readonly at: number; readonly row: unknown }[][];
  #now: number;
  #heartbeat: number;
  #ports: ReaderPorts | null = null;
  #running: Running[] = [];
  #ticks = 0;

  constructor(options: {
    readonly dids: readonly string[];
    readonly startedAt: number;
    readonly perHour: (labeler: number, hourNumber: number) => number;
    readonly outages: readonly SimulatedOutage[];
    /** Called for each accepted row. */
    readonly accepted: (labeler: string, at: number) => void;
  }) {
    this.dids = options.dids;
    this.startedAt = options.startedAt;
    this.#accepted = options.accepted;
    this.#perHour = options.perHour;
    this.#outages = options.outages;
    this.#now = options.startedAt;
    this.#heartbeat = options.startedAt;
    this.#emittedTo = this.dids.map(() => options.startedAt);
    this.#stored = this.dids.map(() => 0);
    this.#pending = this.dids.map(() => []);
  }

  /** Runs until `end`. Resolves between two intervals of the simulated clock. */
  async runTo(end: number): Promise<void> {
    for (; this.#now < end; this.#now += tick) {
      this.#emit();
      if (this.#isOut('instrument')) this.#ports = null;
      else await this.#observe();
    }
  }

  /** Returns the labelers as the instrument lists them. */
  entries(): ListedLabeler[] {
    return this.#running.map(({ source: { did, tracker } }) => ({
      ...{ did, handle: null, enrolled: true, state: tracker.state, stateSince: tracker.tracked.stateSince },
      ...{ problem: null, provenance: new Set(['seeds' as const]), readBy: 'stream', dated: true },
      ...{ replacesRows: null, departure: null },
      ...{ firstAnswered: tracker.tracked.firstAnswered, lastAnswered: tracker.tracked.lastAnswered },
    }));
  }

  #isOut(kind: SimulatedOutage['kind']): boolean {
    return this.#outages.some((one) => one.kind === kind && one.start <= this.#now && this.#now < one.end);
  }

  #emit(): void {
    for (const [labeler, did] of this.dids.entries()) {
      for (;;) {
        const last = this.#emittedTo[labeler] ?? 0;
        const next = last + hour / this.#perHour(labeler, Math.floor(last / hour));
        if (next > this.#now) break;
        this.#emittedTo[labeler] = next;
        const cts = new Date(next / 1000).toISOString();
        const row = { src: did, uri: 'did:plc:cccccccccccccccccccccccc', val: `v${Math.round(next)}`, cts };
        this.#pending[labeler]?.push({ at: next, row });
      }
    }
  }

  async #observe(): Promise<void> {
    const ports = this.#ports ?? this.#start();
    for (const [labeler, one] of this.#running.entries()) {
      if (this.#isOut('network') || this.#isOut(labeler)) await this.#fail(one, ports);
      else await this.#read(labeler, one, ports);
    }
    this.#heartbeat = this.#now;
    this.#ticks += 1;
    if (this.#ticks % rosterEvery !== 0) return;
    for (const { source } of this.#running) this.#tracked.set(source.did, source.tracker.tracked);
  }

  /** Starts the instrument with the stored state, and records its downtime. */
  #start(): ReaderPorts {
    const [start, end] = [micros(this.#heartbeat), micros(this.#now)];
    if (start < end) this.#change({ kind: 'record', gap: { source: null, start, end, reason: 'ingest_paused' } });
    const filledIn = new FilledIn();
    for (const { source, endpoint, value } of this.positions.values()) filledIn.load(source, endpoint, value);
    const unasked = { http: { get: fails, post: fails } as never, openStream: fails };
    const { ports } = scriptedPorts({
      ...unasked,
      accept: (page) => Promise.resolve(this.#accept(page.source, batchOf(micros(this.#now), [page]))),
      gaps: { change: (change) => Promise.resolve(this.#change(change)) },
    });
    const time = { ...ports.time, clock: () => micros(this.#now), epoch: micros(this.startedAt) };
    this.#ports = { ...ports, time, acceptance: { ...ports.acceptance, filledIn, refused: new RefusedMemory() } };
    this.#running = this.dids.map((did) => {
      const source = newSource(did, 'https://labeler.example', this.#ports ?? ports, this.#tracked.get(did));
      return { source, intake: createIntake(source, this.#ports ?? ports, () => undefined), isLive: false };
    });
    return this.#ports;
  }

  async #fail(one: Running, ports: ReaderPorts): Promise<void> {
    one.isLive = false;
    one.source.apply({ kind: 'asked', now: micros(this.#now) });
    await note(one.source, ports.gaps, { kind: 'failed', now: micros(this.#now), fault: 'failed' });
  }

  async #read(labeler: number, one: Running, ports: ReaderPorts): Promise<void> {
    const { source, intake } = one;
    if (!one.isLive) source.apply({ kind: 'asked', now: micros(this.#now) });
    const before = unread(source, ports);
    const pending = this.#pending[labeler] ?? [];
    const rows = pending.splice(0, one.isLive ? pending.length : pageRows).map(({ row }) => row);
    const cursor = (this.#stored[labeler] ?? 0) + rows.length;
    const transport = one.isLive ? 'stream' : 'poll';
    await intake.take({ rows, transport, move: { kind: 'page', cursor, tail: 'p' } }, never);
    this.#stored[labeler] = cursor;
    if (one.isLive || pending.length > 0) return;
    await recordCaughtUp(source, ports, { before, through: micros(this.#now) });
    one.isLive = true;
  }

  #accept(source: string, { observations, positions }: Batch): number {
    for (const _ of observations) this.#accepted(source, this.#now);
    for (const { endpoint, value } of positions) {
      const position = { source, endpoint, value: value ?? '', acceptedAt: micros(this.#now) };
      this.positions.set(`${source} ${endpoint}`, position);
    }
    return observations.length;
  }

  #change(change: GapChange): void {
    const isOwn = ({ source }: StoredGap): boolean => source === change.gap.source;
    const own = changedGaps(this.gaps.filter(isOwn), change);
    this.gaps = [...this.gaps.filter((one) => !isOwn(one)), ...own].sort((a, b) => a.start - b.start);
  }
}

const never = new AbortController().signal;

function fails(): Promise<never> {
  return Promise.reject(new Error('this request was not expected'));
}
