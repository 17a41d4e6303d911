import { hash } from '../random.ts';
import type { Database } from './database.ts';
import type { FaultyAnswer } from './faulty-answers.ts';
import type { LabelLog } from './label-log.ts';
import type { LabelFields, OddKind } from './odd-labels.ts';
import type { Ailment, LabelerProfile } from './profile.ts';
import type { LabelStream } from './stream.ts';
import { garbageFrames } from './wire.ts';

/** Injected faults of a labeler, besides odd labels, which have their own names. */
export const labelerFaultNames = [
  'query_answer',
  'stream_answer',
  'no_cursor',
  'unordered',
  'delay',
  'dead',
  'drop',
  'silence',
  'half_open',
  'garbage',
  'several_per_frame',
  'miss_at_cutover',
  'future_cursor',
  'outdated_cursor',
  'consumer_too_slow',
  'recreate',
  'lose_tail',
  'rotate_key',
  'move',
] as const;
/** The name of a fault, or of an oddity of labels. */
export type LabelerFault = (typeof labelerFaultNames)[number] | OddKind;

/** A fault that took effect. */
export interface LabelerFaultRecord {
  readonly fault: LabelerFault;
  /** The simulated clock then, in microseconds. */
  readonly atUs: number;
  /** Numbers of the labels concerned: first one, and the one behind the last; null where it concerns none. */
  readonly fromN: number | null;
  readonly toN: number | null;
}

/** The labeler that the switches act upon. */
export interface Switched {
  readonly profile: LabelerProfile;
  readonly log: LabelLog;
  readonly database: Database;
  readonly streams: readonly LabelStream[];
  /** Number of the newest label. */
  readonly edge: number;
  shut(): Promise<void>;
  revive(): Promise<void>;
  move(): Promise<void>;
  rotateKey(): void;
}

/** An answer in the place of the sound one, so many times. */
interface Armed {
  readonly answer: FaultyAnswer;
  /** Pages of so many labels alone meet it; null for every one. */
  readonly limit: number | null;
  times: number;
}

const logLimit = 1000;

/**
 * The switches of one labeler. Those that alter answers wait for a request, and count when one meets them; the others
 * act at once. Odd labels are emitted at once, under the next numbers.
 */
export class LabelerFaults {
  /** Number of times that each took effect; absent for never. */
  readonly fired = new Map<LabelerFault, number>();
  /** Faults that took effect, oldest first; the oldest of very many are omitted. */
  readonly log: LabelerFaultRecord[] = [];
  /** Labels that a frame of the stream may hold. Both programs send one. */
  labelsPerFrame = 1;
  readonly #labeler: Switched;
  readonly #nowUs: () => number;
  /** Streams give what is live alone, whatever cursor they are asked with. */
  ignoresCursors = false;
  #query: Armed | null = null;
  #stream: Armed | null = null;
  #unordered = false;
  #cursorless = false;
  #delayMs = 0;
  #cursor: 'future' | 'outdated' | 'too_slow' | null = null;
  #missed = 0;
  #outageUntilUs = Number.POSITIVE_INFINITY;
  #pages = 0;

  constructor(labeler: Switched, nowUs: () => number) {
    this.#labeler = labeler;
    this.#nowUs = nowUs;
    this.#unordered = labeler.profile.unordered;
  }

  /** Answers pages (of `limit` labels alone, where that is given), handshakes or both in another way, `times` times or until `heal`. */
  answer(
    answer: FaultyAnswer,
    {
      on = 'both',
      times = Number.POSITIVE_INFINITY,
      limit = null,
    }: { readonly on?: 'query' | 'stream' | 'both'; readonly times?: number; readonly limit?: number | null } = {},
  ): void {
    if (on !== 'stream') this.#query = { answer, limit, times };
    if (on !== 'query') this.#stream = { answer, limit: null, times };
  }

  /** Ends what `answer`, `withoutCursor`, `withoutOrder`, `delayed` and `several` have set. */
  heal(): void {
    this.#query = null;
    this.#stream = null;
    this.#unordered = false;
    this.#cursorless = false;
    this.#delayMs = 0;
    this.labelsPerFrame = 1;
  }

  /** Every page is the newest one and carries no cursor. */
  withoutCursor(): void {
    this.#cursorless = true;
  }

  /** Pages hold the next labels without an order, another one at every call, and the cursor of the last one. */
  withoutOrder(): void {
    this.#unordered = true;
  }

  /** Pages come that late, in milliseconds of the wall clock. */
  delayed(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** Frames hold up to that many labels, under the `seq` of the last one. */
  several(labels: number): LabelerFaultRecord {
    this.labelsPerFrame = labels;
    return this.#fire('several_per_frame');
  }

  /** The next streams with a cursor are answered as if it lay in the future, were too old, or they were too slow. */
  nextCursor(condition: 'future' | 'outdated' | 'too_slow'): void {
    this.#cursor = condition;
  }

  /** The next stream with a cursor misses so many of the newest labels, as if they came between replay and live. */
  missAtCutover(labels: number): void {
    this.#missed = labels;
  }

  /** Refuses connections, until `revive` or for so many seconds of the simulation's clock. */
  async dead({ seconds = Number.POSITIVE_INFINITY }: { readonly seconds?: number } = {}): Promise<LabelerFaultRecord> {
    this.#outageUntilUs = this.#nowUs() + seconds * 1_000_000;
    await this.#labeler.shut();
    return this.#fire('dead');
  }

  /** Takes connections again. */
  async revive(): Promise<void> {
    this.#outageUntilUs = Number.POSITIVE_INFINITY;
    await this.#labeler.revive();
  }

  /** Listens elsewhere from now on. The directory says so at once. */
  async move(): Promise<LabelerFaultRecord> {
    await this.#labeler.move();
    return this.#fire('move');
  }

  /** Ends the sockets of all streams without a goodbye, or resets them. */
  drop(how: 'end' | 'reset' = 'end'): LabelerFaultRecord {
    for (const stream of [...this.#labeler.streams]) stream.drop(how);
    return this.#fire('drop');
  }

  /** Sends nothing more on open streams until `resume`; pings are answered. */
  silence(): LabelerFaultRecord {
    for (const stream of this.#labeler.streams) stream.mode = 'silent';
    return this.#fire('silence');
  }

  /** Neither sends nor reads on open streams until `resume`. */
  halfOpen(): LabelerFaultRecord {
    for (const stream of this.#labeler.streams) stream.halfOpen();
    return this.#fire('half_open');
  }

  /** Ends silence and half-openness. */
  resume(): void {
    for (const stream of this.#labeler.streams) stream.resume();
  }

  /** Sends frames that nobody can read on open streams; by name, or all of them. */
  garbage(names: readonly string[] = Object.keys(garbageFrames)): LabelerFaultRecord {
    for (const name of names) {
      const frame = garbageFrames[name];
      if (frame === undefined) throw new RangeError(`no such frame; known: ${Object.keys(garbageFrames).join(', ')}`);
      for (const { webSocket } of this.#labeler.streams) webSocket.send(frame);
    }
    return this.#fire('garbage');
  }

  /** Makes the database anew: it is empty, `seq` begins at 1 again, and streams end as at a restart. */
  recreate(): LabelerFaultRecord {
    const { edge } = this.#labeler;
    this.#labeler.database.recreate(edge);
    for (const { webSocket } of [...this.#labeler.streams]) webSocket.terminate();
    return this.#fire('recreate', 1, edge + 1);
  }

  /** Puts the database back by so many labels: their `seq` are given again, and streams end as at a restart. */
  loseTail(labels: number): LabelerFaultRecord {
    const { edge } = this.#labeler;
    this.#labeler.database.loseTail(labels, edge);
    for (const { webSocket } of [...this.#labeler.streams]) webSocket.terminate();
    return this.#fire('lose_tail', edge + 1 - labels, edge + 1);
  }

  /** Signs with a new key from now on; the directory says so when it is told to. */
  rotateKey(): LabelerFaultRecord {
    this.#labeler.rotateKey();
    return this.#fire('rotate_key', this.#labeler.edge + 1, null);
  }

  /** Emits so many ordinary labels at once, beside the rhythm. Returns the first of their numbers. */
  emit(count: number): number {
    return this.#labeler.log.pace.emit(count, this.#nowUs());
  }

  /** Emits one label for each of these at once, with its fields in the place of ordinary ones. Returns the first number. */
  say(labels: readonly LabelFields[]): number {
    const fromN = this.#labeler.log.pace.emit(labels.length, this.#nowUs());
    this.#labeler.log.write(fromN, labels);
    return fromN;
  }

  /** Emits labels at that rate a second from now on; 0 for none. */
  setRate(rate: number): void {
    this.#labeler.log.pace.setRate(rate, this.#nowUs());
  }

  /** Emits odd labels at once. `bytes` is the size of a `huge` one. */
  labels(
    kind: OddKind,
    { count = 1, bytes = 10_000_000 }: { readonly count?: number; readonly bytes?: number } = {},
  ): LabelerFaultRecord {
    const fromN = this.#labeler.log.pace.emit(count, this.#nowUs());
    this.#labeler.log.alter(fromN, count, kind, bytes);
    return this.#fire(kind, fromN, fromN + count);
  }

  /** Sets what ails it from the start. Troubles of its identity are the directory's. */
  ail(ailment: Ailment): void {
    const status = /^status_(\d+)$/.exec(ailment)?.[1];
    if (status !== undefined) this.answer({ kind: 'status', status: Number(status) });
    else if (ailment === 'html' || ailment === 'broken_json' || ailment === 'endless' || ailment === 'hang')
      this.answer({ kind: ailment });
    else if (ailment === 'drip') this.answer({ kind: 'drip', bytesPerSecond: 2 });
    else if (ailment === 'redirect') this.answer({ kind: 'redirect', to: 'http://127.0.0.1:1/elsewhere' });
    else if (ailment === 'no_stream') this.answer({ kind: 'status', status: 501 }, { on: 'stream' });
    else if (ailment === 'no_query') this.answer({ kind: 'status', status: 501 }, { on: 'query' });
    else if (ailment === 'no_cursor') {
      this.withoutCursor();
      this.answer({ kind: 'status', status: 404 }, { on: 'stream' });
    } else if (ailment === 'dead') this.#fire('dead');
  }

  /** For the host: what a page of so many labels is answered with instead. */
  onQuery(limit: number): FaultyAnswer | null {
    const armed = this.#query;
    return armed?.limit === null || armed?.limit === limit ? this.#meet(armed, 'query_answer') : null;
  }

  /** For the host: what a handshake is answered with instead. */
  onStream(): FaultyAnswer | null {
    return this.#meet(this.#stream, 'stream_answer');
  }

  /** For the host: how a cursor is to be taken. */
  onCursor(): 'future' | 'outdated' | 'too_slow' | null {
    const condition = this.#cursor;
    this.#cursor = null;
    if (condition === 'future') this.#fire('future_cursor');
    if (condition === 'outdated') this.#fire('outdated_cursor');
    if (condition === 'too_slow') this.#fire('consumer_too_slow');
    return condition;
  }

  /** For the host: the first label of a stream whose cursor means `honest`. */
  firstOfStream(honest: number, edge: number): number {
    const missed = this.#missed;
    this.#missed = 0;
    if (missed === 0 || honest > edge) return honest;
    const first = Math.min(edge + 1, honest + missed);
    this.#fire('miss_at_cutover', honest, first);
    return first;
  }

  /** For the host: what orders the next page, or null for the order of `seq`. */
  unorderedPage(): number | null {
    if (!this.#unordered) return null;
    this.#fire('unordered');
    this.#pages += 1;
    return hash(this.#labeler.profile.index, 0x0de5, this.#pages);
  }

  /** For the host: whether the next page goes without a cursor. */
  cursorless(): boolean {
    if (this.#cursorless) this.#fire('no_cursor');
    return this.#cursorless;
  }

  /** For the host: how long the next page waits, in milliseconds. */
  delay(): number {
    if (this.#delayMs > 0) this.#fire('delay');
    return this.#delayMs;
  }

  /** For the host: a consumer was put out because it fell behind. */
  tellTooSlow(): void {
    this.#fire('consumer_too_slow');
  }

  /** For the host: whether an outage has lasted long enough. */
  outageIsOver(): boolean {
    return this.#nowUs() >= this.#outageUntilUs;
  }

  #meet(armed: Armed | null, fault: 'query_answer' | 'stream_answer'): FaultyAnswer | null {
    if (armed === null || armed.times <= 0) return null;
    armed.times -= 1;
    this.#fire(fault);
    return armed.answer;
  }

  #fire(fault: LabelerFault, fromN: number | null = null, toN: number | null = null): LabelerFaultRecord {
    const record = { fault, atUs: this.#nowUs(), fromN, toN };
    this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
    this.log.push(record);
    if (this.log.length > logLimit) this.log.shift();
    return record;
  }
}
