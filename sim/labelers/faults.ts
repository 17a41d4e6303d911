import { hash } from '../random.ts';
import type { Database } from './database.ts';
import type { FaultyAnswer } from './faulty-answers.ts';
import type { LabelLog } from './label-log.ts';
import type { LabelerFault, LabelerFaultRecord, LabelFields, OddKind } from './odd-labels.ts';
import type { Ailment, LabelerProfile } from './profile.ts';
import type { LabelStream } from './stream.ts';
import { garbageFrames } from './wire.ts';

/** The labeler that the switches control. */
interface Switched {
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

/** A prepared faulty response, and the number of regular responses that it still replaces. */
interface Armed {
  readonly answer: FaultyAnswer;
  /** Page size to which the fault is limited, or null for all page sizes. */
  readonly limit: number | null;
  times: number;
}

const logLimit = 1000;

/**
 * The fault switches of one labeler. A fault that changes a response takes effect, and is counted, when the request
 * arrives; all other faults take effect immediately. Odd labels are emitted immediately with the next numbers.
 */
export class LabelerFaults {
  /** Number of times that each fault took effect. A fault that never took effect has no entry. */
  readonly fired = new Map<LabelerFault, number>();
  /** The newest 1,000 faults that took effect, oldest first. */
  readonly log: LabelerFaultRecord[] = [];
  /** Maximum number of labels per stream frame. The default is 1, as in both imitated programs. */
  labelsPerFrame = 1;
  readonly #labeler: Switched;
  readonly #nowUs: () => number;
  /** True if streams send only live labels, even to a consumer that specifies a cursor. */
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
  #stale = 0;

  constructor(labeler: Switched, nowUs: () => number) {
    this.#labeler = labeler;
    this.#nowUs = nowUs;
    this.#unordered = labeler.profile.unordered;
  }

  /**
   * Replaces responses to page requests, to handshakes or to both, either `times` times or until `heal`. With `limit`,
   * only requests for pages of that size are affected.
   */
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

  /** Ends the effects of `answer`, `withoutCursor`, `withoutOrder`, `delayed` and `several`. */
  heal(): void {
    this.#query = null;
    this.#stream = null;
    this.#unordered = false;
    this.#cursorless = false;
    this.#delayMs = 0;
    this.labelsPerFrame = 1;
  }

  /** Makes every page contain only the newest labels, without a cursor. */
  withoutCursor(): void {
    this.#cursorless = true;
  }

  /** Makes each page return the next labels in a new random order, with the cursor of the last label returned. */
  withoutOrder(): void {
    this.#unordered = true;
  }

  /**
   * Answers the next page requests as a cache with expired responses does: a URL that was requested before receives its
   * last response again. `times` counts only such responses.
   */
  stale(times: number): void {
    this.#stale = times;
  }

  /** Delays pages by a number of milliseconds of real time. */
  delayed(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** Allows several labels per frame. The frame has the `seq` of its last label. */
  several(labels: number): LabelerFaultRecord {
    this.labelsPerFrame = labels;
    return this.#fire('several_per_frame');
  }

  /**
   * Treats the next cursor of a stream as lying in the future or as outdated, or treats that stream's consumer as too
   * slow.
   */
  nextCursor(condition: 'future' | 'outdated' | 'too_slow'): void {
    this.#cursor = condition;
  }

  /**
   * Omits the newest labels from the next stream with a cursor, as if they had been lost between replay and live
   * traffic.
   */
  missAtCutover(labels: number): void {
    this.#missed = labels;
  }

  /** Refuses connections until `revive`, or for a number of seconds of simulated time. */
  async dead({ seconds = Number.POSITIVE_INFINITY }: { readonly seconds?: number } = {}): Promise<LabelerFaultRecord> {
    this.#outageUntilUs = this.#nowUs() + seconds * 1_000_000;
    await this.#labeler.shut();
    return this.#fire('dead');
  }

  /** Ends an outage, so that the labeler accepts connections again. */
  async revive(): Promise<void> {
    this.#outageUntilUs = Number.POSITIVE_INFINITY;
    await this.#labeler.revive();
  }

  /** Moves the labeler to another address. Its DID document changes immediately. */
  async move(): Promise<LabelerFaultRecord> {
    await this.#labeler.move();
    return this.#fire('move');
  }

  /** Ends the sockets of all streams without a close frame, or resets them. */
  drop(how: 'end' | 'reset' = 'end'): LabelerFaultRecord {
    for (const stream of [...this.#labeler.streams]) stream.drop(how);
    return this.#fire('drop');
  }

  /** Makes open streams send nothing but pongs until `resume`. */
  silence(): LabelerFaultRecord {
    for (const stream of this.#labeler.streams) stream.mode = 'silent';
    return this.#fire('silence');
  }

  /** Stops all sending and reading on open streams until `resume`. */
  halfOpen(): LabelerFaultRecord {
    for (const stream of this.#labeler.streams) stream.halfOpen();
    return this.#fire('half_open');
  }

  /** Ends `silence` and `halfOpen`. */
  resume(): void {
    for (const stream of this.#labeler.streams) stream.resume();
  }

  /** Sends malformed frames on open streams: the named ones, or all kinds. Throws a RangeError for an unknown name. */
  garbage(names: readonly string[] = Object.keys(garbageFrames)): LabelerFaultRecord {
    for (const name of names) {
      const frame = garbageFrames[name];
      if (frame === undefined)
        throw new RangeError(`unknown frame; choose from ${Object.keys(garbageFrames).join(', ')}`);
      for (const { webSocket } of this.#labeler.streams) webSocket.send(frame);
    }
    return this.#fire('garbage');
  }

  /** Recreates the database, which is then empty. `seq` starts at 1 again, and streams end as after a restart. */
  recreate(): LabelerFaultRecord {
    const { edge } = this.#labeler;
    this.#labeler.database.recreate(edge);
    for (const { webSocket } of [...this.#labeler.streams]) webSocket.terminate();
    return this.#fire('recreate', 1, edge + 1);
  }

  /**
   * Restores an older database that lacks the last labels. Their `seq` numbers are assigned again, and streams end as
   * after a restart.
   */
  loseTail(labels: number): LabelerFaultRecord {
    const { edge } = this.#labeler;
    this.#labeler.database.loseTail(labels, edge);
    for (const { webSocket } of [...this.#labeler.streams]) webSocket.terminate();
    return this.#fire('lose_tail', edge + 1 - labels, edge + 1);
  }

  /** Makes the labeler sign with a new key. The directory is updated separately. */
  rotateKey(): LabelerFaultRecord {
    this.#labeler.rotateKey();
    return this.#fire('rotate_key', this.#labeler.edge + 1, null);
  }

  /**
   * Rotates the key and emits the newest labels again with new signatures, except labels on the account that all
   * labelers label. By default, the repeated labels have the current time as their `cts`. None of them may be odd.
   * Throws if the labeler has emitted too few suitable labels.
   */
  signAgain(labels: number, { newCts = true }: { readonly newCts?: boolean } = {}): LabelerFaultRecord {
    this.#labeler.rotateKey();
    const { edge, log } = this.#labeler;
    const earlier: number[] = [];
    for (let n = edge; earlier.length < labels; n -= 1) {
      if (n < 1) throw new Error(`the labeler has emitted fewer than ${labels} suitable labels`);
      if (!log.isAboutDenseAccount(n)) earlier.unshift(n);
    }
    const fromN = this.repeat(earlier, { newCts });
    return this.#fire('sign_again', fromN, fromN + labels);
  }

  /** Emits earlier labels again. Returns the first of the new numbers. */
  repeat(earlier: readonly number[], { newCts = true }: { readonly newCts?: boolean } = {}): number {
    const fromN = this.emit(earlier.length);
    const cts = new Date(Math.floor(this.#nowUs() / 1000)).toISOString();
    this.#labeler.log.repeat(fromN, earlier, newCts ? { cts } : {});
    return fromN;
  }

  /** Immediately emits ordinary labels in addition to the regular ones. Returns the first of their numbers. */
  emit(count: number): number {
    return this.#labeler.log.pace.emit(count, this.#nowUs());
  }

  /** Immediately emits one label per entry, with the entry's fields. Returns the first of their numbers. */
  say(labels: readonly LabelFields[]): number {
    const fromN = this.#labeler.log.pace.emit(labels.length, this.#nowUs());
    this.#labeler.log.write(fromN, labels);
    return fromN;
  }

  /** Sets the rate in labels per second; 0 stops regular labels. */
  setRate(rate: number): void {
    this.#labeler.log.pace.setRate(rate, this.#nowUs());
  }

  /** Immediately emits odd labels. `bytes` is the size of a label of the kind `huge`. */
  labels(
    kind: OddKind,
    { count = 1, bytes = 10_000_000 }: { readonly count?: number; readonly bytes?: number } = {},
  ): LabelerFaultRecord {
    const fromN = this.#labeler.log.pace.emit(count, this.#nowUs());
    this.#labeler.log.alter(fromN, count, kind, bytes);
    return this.#fire(kind, fromN, fromN + count);
  }

  /** Applies a permanent ailment. The directory applies ailments of the DID document. */
  ail(ailment: Ailment): void {
    const status = /^status_(\d+)$/.exec(ailment)?.[1];
    if (status !== undefined) this.answer({ kind: 'status', status: Number(status) });
    else if (ailment === 'html' || ailment === 'broken_json' || ailment === 'endless' || ailment === 'hang')
      this.answer({ kind: ailment });
    else if (ailment === 'drip') this.answer({ kind: 'drip', bytesPerSecond: 2 });
    else if (ailment === 'redirect') this.answer({ kind: 'redirect', to: 'http://127.0.0.1:1/elsewhere' });
    else if (ailment === 'no_stream') this.answer({ kind: 'status', status: 501 }, { on: 'stream' });
    else if (ailment === 'no_query') this.answer({ kind: 'status', status: 400 }, { on: 'query' });
    else if (ailment === 'no_cursor') {
      this.withoutCursor();
      this.answer({ kind: 'status', status: 404 }, { on: 'stream' });
    } else if (ailment === 'dead') this.#fire('dead');
  }

  /**
   * Returns the faulty response to a page request with this limit, or null for a regular response. Called by the host.
   */
  onQuery(limit: number): FaultyAnswer | null {
    const armed = this.#query;
    return armed?.limit === null || armed?.limit === limit ? this.#meet(armed, 'query_answer') : null;
  }

  /** Returns the faulty response to a handshake, or null for a regular one. Called by the host. */
  onStream(): FaultyAnswer | null {
    return this.#meet(this.#stream, 'stream_answer');
  }

  /** Returns the condition that applies to the next cursor, or null. Called by the host. */
  onCursor(): 'future' | 'outdated' | 'too_slow' | null {
    const condition = this.#cursor;
    this.#cursor = null;
    if (condition === 'future') this.#fire('future_cursor');
    if (condition === 'outdated') this.#fire('outdated_cursor');
    if (condition === 'too_slow') this.#fire('consumer_too_slow');
    return condition;
  }

  /**
   * Returns the number of a stream's first label. `honest` is the number that its cursor denotes without a fault.
   * Called by the host.
   */
  firstOfStream(honest: number, edge: number): number {
    const missed = this.#missed;
    this.#missed = 0;
    if (missed === 0 || honest > edge) return honest;
    const first = Math.min(edge + 1, honest + missed);
    this.#fire('miss_at_cutover', honest, first);
    return first;
  }

  /** Returns the seed for the order of the next page, or null for `seq` order. Called by the host. */
  unorderedPage(): number | null {
    if (!this.#unordered) return null;
    this.#fire('unordered');
    this.#pages += 1;
    return hash(this.#labeler.profile.index, 0x0de5, this.#pages);
  }

  /** Returns true if the next response to a known URL must be the former one. Called by the host. */
  isStale(): boolean {
    if (this.#stale <= 0) return false;
    this.#stale -= 1;
    this.#fire('stale_page');
    return true;
  }

  /** Returns true if the next page must not have a cursor. Called by the host. */
  cursorless(): boolean {
    if (this.#cursorless) this.#fire('no_cursor');
    return this.#cursorless;
  }

  /** Returns the delay of the next page, in milliseconds. Called by the host. */
  delay(): number {
    if (this.#delayMs > 0) this.#fire('delay');
    return this.#delayMs;
  }

  /** Records that a slow consumer was disconnected. Called by the host. */
  tellTooSlow(): void {
    this.#fire('consumer_too_slow');
  }

  /** Returns true if the current outage has lasted for its whole duration. Called by the host. */
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
