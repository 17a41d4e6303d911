import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { stoppable } from '../clock/clock.ts';
import { DeliveryAccount, type SourceIntake } from '../ingest/intake.ts';
import type { ReadingPorts } from '../ingest/ports.ts';
import { authoredOf } from '../label/label-fields.ts';
import type { LastFrame, SourceFault } from '../state/reading-events.ts';
import { afterQuiet, isSettled, type Source, type StreamProgress } from '../state/source.ts';
import { type FrameBatch, FrameQueue, itemsOf, type LabelFrame } from '../stream/frame-queue.ts';
import { isAfterOpening, recordCaughtUp, recordReset, unread, untilReadable } from './catch-up.ts';
import { Alignment, type Filled, type HoleCloser } from './fill-in.ts';
import { markOf, newRowsOf } from './pages.ts';
import { pollRound } from './poll-round.ts';

/** Number of consecutive unreadable messages after which a connection does not count as a label stream. */
const maxMalformed = 20;

/** The connection from which frames are read. */
interface FrameSource {
  readonly filled: Promise<Filled>;
  readonly openedAt: Micros;
  readonly resume: () => void;
  readonly holes: Pick<HoleCloser, 'start'>;
}

/** Reads the frames of one connection to a stream in order, stores their labels, and polls the labeler when it is quiet. */
export class FrameReader {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #ports: ReadingPorts;
  readonly #signal: AbortSignal;
  readonly #frames: FrameQueue;
  /** Memory quota of the incomplete message. */
  readonly #partial: ByteAccount;
  /** Memory quota of the frames that are decoded and not yet stored. */
  readonly #decoded: ByteAccount;
  /** True if the connection delivered a frame of labels, even of known ones. */
  answered = false;
  #wake: (() => void) | null = null;
  #closed = false;
  /** True if a read paused the connection, even if the read added no frame to the queue. */
  #heldBack = false;
  #malformed = 0;
  /** True if the labeler reported that it no longer has all labels after the requested cursor. */
  #outdated = false;
  #progress = false;
  readonly #alignment: Alignment;
  /** The current wait for silence, or null before the first one and after a new label. */
  #silence: { readonly limitMs: number; readonly stop: () => void; isOver: boolean } | null = null;
  /** True while messages may have been taken from the queue and not stored yet. */
  #isReading = false;
  /** True if the pages can be read, and null until the labels from before the connection are filled in. */
  #hasPages: boolean | null = null;

  constructor(source: Source, intake: SourceIntake, ports: ReadingPorts, signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#ports = ports;
    this.#signal = signal;
    this.#partial = ports.query.memory.queued.open();
    this.#frames = new FrameQueue(ports.query.memory.queued.open(), ports.time.clock);
    this.#decoded = ports.query.memory.decoded.open();
    this.#alignment = new Alignment(source, intake, ports, signal);
    signal.addEventListener('abort', () => this.close());
  }

  get #stream(): StreamProgress {
    return this.#source.progress.stream;
  }

  /** Time up to which everything that arrived is stored, or is a hole. */
  get storedThrough(): Micros {
    const { waitingSince, takenSince } = this.#frames;
    return this.#isReading ? takenSince : (waitingSince ?? this.#ports.time.clock());
  }

  /** Queues a message and charges the source for its bytes; returns true if reading should pause. */
  push(bytes: Uint8Array): boolean {
    const { pace } = this.#ports;
    const full = this.#frames.push(bytes);
    pace.charge(this.#source.did, { bytes: bytes.byteLength });
    this.#wake?.();
    return this.#pausing(full || pace.isThrottled(this.#source.did));
  }

  #pausing(isPaused: boolean): boolean {
    if (isPaused) this.#frames.pause();
    return isPaused;
  }

  /** Charges the source for the processor time of a read, even without a message; returns true to pause reading. */
  charge(cpuMs: number): boolean {
    const { pace } = this.#ports;
    pace.charge(this.#source.did, { cpuMs });
    this.#heldBack = pace.isThrottled(this.#source.did);
    if (this.#heldBack) this.#wake?.();
    return this.#pausing(this.#heldBack);
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Records the size of an incomplete message; returns true if reading should pause. */
  holdPartial(bytes: number): boolean {
    this.#partial.release();
    this.#partial.hold(bytes);
    return this.#pausing(this.#partial.isOver);
  }

  /** Releases all memory of the session. */
  release(): void {
    this.#frames.clear();
    this.#partial.release();
    this.#decoded.release();
  }

  async run(stream: FrameSource): Promise<SessionOutcome> {
    stream.filled.then(
      ({ joined }) => {
        // Do not apply the result of a fill-in that ends after this connection.
        if (!this.#signal.aborted) this.#source.apply({ kind: 'filled_in', joined, opened: stream.openedAt });
        this.#hasPages = joined;
        this.#alignment.filled(joined, stream.openedAt, () => this.#wake?.());
        this.#wake?.();
      },
      () => undefined,
    );
    stream.holes.start();
    while (!this.#signal.aborted) {
      // Until the source may be read again, frames stay in the queue; a full queue stops the labeler by backpressure.
      await untilReadable(this.#source, this.#ports, this.#signal);
      const reset = await this.#alignment.askLaterPages();
      if (reset) return reset;
      const batch = this.#frames.next();
      if (batch === null) {
        if (this.#closed) return { kind: 'ended', progress: this.#progress };
        if (this.#heldBack) stream.resume();
        this.#heldBack = false;
        this.#awaitSilence();
        // Confirm a quiet stream only after the fill-in. Frames that arrive during the wait are read immediately.
        if (this.#silence?.isOver === true && this.#hasPages !== null) {
          this.#endSilence();
          const end = await this.#confirm(this.#hasPages);
          if (end) return end;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = null;
        }
        continue;
      }
      this.#isReading = true;
      const frames = await this.#take(batch);
      if (!this.#frames.isFull) stream.resume();
      const end = await this.#read(frames);
      this.#isReading = false;
      this.#decoded.release();
      if (end) return end;
      stream.holes.start();
      if (this.#stream.joined) this.#alignment.check();
    }
    return { kind: 'ended', progress: this.#progress };
  }

  /**
   * Waits in the background for silence: the time without a new label that was understood. Messages without such a label
   * do not prove that the stream delivers all labels, however many arrive.
   */
  #awaitSilence(): void {
    const { timings, wait } = this.#ports.time;
    const settled = isSettled(this.#source.progress, this.#source.tracker.reading);
    const limitMs = settled ? timings.confirmMs : timings.resumeMs;
    if (this.#silence?.limitMs === limitMs) return;
    this.#endSilence();
    const { signal, abort } = stoppable(this.#signal);
    const silence = { limitMs, stop: abort, isOver: false };
    this.#silence = silence;
    void wait(limitMs, signal).then(() => {
      silence.isOver = !signal.aborted;
      this.#wake?.();
    });
  }

  #endSilence(): void {
    this.#silence?.stop();
    this.#silence = null;
  }

  /** Decodes frames once there is memory; the reserve suffices for a few frames. Returns no frame if reading ended. */
  async #take(batch: FrameBatch): Promise<readonly LabelFrame[]> {
    const memory = this.#decoded;
    if (memory.tryTake(batch.cost)) return this.#frames.take(batch);
    const few = this.#frames.next(this.#ports.query.memory.reserve) ?? batch;
    const taken = await memory.take(few.cost, this.#signal);
    return taken === 'taken' ? this.#frames.take(few) : [];
  }

  /**
   * Handles a quiet stream. If the pages can be read, polls the labeler to confirm that the stream has missed no
   * labels. Returns the outcome of the session if the session ends, or null.
   */
  async #confirm(pages: boolean): Promise<SessionOutcome | null> {
    const act = afterQuiet(this.#source.progress, this.#source.tracker.reading, pages);
    switch (act) {
      case 'ask_pages':
        return this.#askPages();
      case 'start_over':
        this.#ports.report.telemetry.quirk('tail_missing');
        return this.#startOver();
      case 'catch_up':
        await this.#caughtUp(this.#source.tracker.readAt, this.#frames.waitingSince ?? this.#ports.time.clock());
        return null;
      case 'stay':
        return null;
      case 'reconnect':
        return { kind: 'ended', progress: this.#progress };
      default:
        return act satisfies never;
    }
  }

  async #askPages(): Promise<SessionOutcome | null> {
    this.#source.apply({ kind: 'tail_settled' });
    const before = unread(this.#source, this.#ports);
    const round = await pollRound(this.#source, this.#intake, this.#ports, { before, signal: this.#signal });
    if (round.kind === 'quiet') await recordCaughtUp(this.#source, this.#ports, { before, through: round.through });
    return round.kind === 'reset' ? round : null;
  }

  async #read(frames: readonly LabelFrame[]): Promise<SessionOutcome | null> {
    const rows: unknown[] = [];
    const items = frames.reduce((total, frame) => total + itemsOf(frame), 0);
    const account = new DeliveryAccount(this.#source, this.#ports.report, items);
    let seen: LastFrame[] = [];
    let last: LastFrame | null = null;
    let end: SessionOutcome | null = null;
    let again = false;
    for (const frame of frames) {
      if (frame.kind !== 'labels') {
        this.#source.apply({ kind: 'frames_seen', frames: seen });
        seen = [];
        end = await this.#control(frame, last, account);
        if (end) break;
        continue;
      }
      this.#malformed = 0;
      const fresh = await this.#afterTail(frame.seq, frame.labels);
      if (fresh === 'reset') return { kind: 'reset' };
      account.settle('known', frame.labels.length - fresh.length);
      rows.push(...fresh);
      // Other rows of a frame with a known row may be known too.
      again ||= fresh.length > 0 && fresh.length < frame.labels.length;
      const known: LastFrame | null = last ?? this.#source.lastFrame;
      const before = known?.seq ?? -1;
      if (frame.seq < before) {
        again = true;
        if (this.#stream.expected === null) this.#ports.report.telemetry.quirk('seq_not_advancing');
      } else {
        if (frame.seq > before && frame.labels.length > 0) this.#endSilence();
        last = { seq: frame.seq, tail: frame.labels.length === 0 ? null : markOf(frame.labels.at(-1)) };
        // A message without labels that repeats the number does not hide the row of that number.
        if (frame.seq === before && last.tail === null) last = known;
      }
      if (last !== null) seen.push(last);
    }
    this.#source.apply({ kind: 'frames_seen', frames: seen });
    // Messages after the end of the connection are left.
    const through = end === null ? this.#frames.takenThrough : this.#frames.takenSince;
    // Store rows with decreasing numbers, but never move the position back.
    if (last !== null || rows.length > 0) account.take(await this.#commit(rows, last, again, through));
    if (end) account.leave();
    account.close();
    return end;
  }

  async #commit(rows: readonly unknown[], last: LastFrame | null, again: boolean, through: Micros) {
    this.#progress ||= rows.length > 0;
    this.answered = true;
    this.#ports.report.telemetry.page('stream');
    const { tracker } = this.#source;
    const readBefore = tracker.readAt;
    const [since, move] = [this.#frames.takenSince, { kind: 'frames', last } as const];
    const taken = await this.#intake.take({ rows, transport: 'stream', since, through, again, move }, this.#signal);
    const { cursor, liveFrom } = this.#stream;
    if (cursor === null || tracker.whole || liveFrom === null) return taken;
    // A stream with a cursor delivers the missed labels that the labeler still has before any label that was authored
    // after the opening. Once such a label arrives, the source is read to its end. Without a cursor, a later connection
    // may replay the missed labels.
    const now = this.#ports.time.clock();
    const live = rows.filter((row) => isAfterOpening(authoredOf(row), liveFrom, now)).length;
    if (live > 0) await this.#caughtUp(live === rows.length ? readBefore : tracker.readAt, through);
    return taken;
  }

  async #caughtUp(readAt: Micros | null, through: Micros): Promise<void> {
    await recordCaughtUp(this.#source, this.#ports, { before: unread(this.#source, this.#ports), through }, readAt);
  }

  /** Records a gap after a reset of the labeler's database, and discards the position. */
  async #startOver(): Promise<SessionOutcome> {
    await recordReset(this.#source, this.#ports, false);
    await this.#intake.applyInTurn({ kind: 'position_forgotten' });
    return { kind: 'reset' };
  }

  /**
   * Returns the new labels of a frame. Records a gap if a resumed stream does not begin with the last row that was read or
   * the frame before it. If another row has the number of that row, also discards the position and returns `reset`.
   */
  async #afterTail(seq: number, labels: readonly unknown[]): Promise<readonly unknown[] | 'reset'> {
    const { expected, cursor } = this.#stream;
    if (expected === null) return labels;
    // By the specification, a stream repeats the frame of the cursor too; Ozone sends only the frames after it. Everything
    // before the last frame is already stored or recorded as a gap.
    if (seq === cursor && seq < expected.seq) return [];
    this.#source.apply({ kind: 'tail_settled' });
    const fresh = newRowsOf(expected, seq, labels);
    if (typeof fresh !== 'string') {
      // The frame lacks the expected row and all its labels are new, so one of them replaced that row.
      const isReplaced = fresh === labels && expected.tail !== null;
      if (isReplaced) this.#source.apply({ kind: 'row_keeping_seen', replaces: true });
      return fresh;
    }
    this.#ports.report.telemetry.quirk('tail_missing');
    if (fresh === 'another') {
      await this.#startOver();
      return 'reset';
    }
    // Later labels arrive live.
    await recordReset(this.#source, this.#ports, true);
    return labels;
  }

  /** Records that a message was not understood; `before` is the last frame of the batch before it. */
  #holeFound(before: LastFrame | null, account: DeliveryAccount): void {
    const { clock, epoch } = this.#ports.time;
    this.#source.apply({ kind: 'hole_found', now: clock(), epoch, before });
    account.settle('hole', 1);
  }

  async #control(
    frame: Exclude<LabelFrame, { kind: 'labels' }>,
    before: LastFrame | null,
    account: DeliveryAccount,
  ): Promise<SessionOutcome | null> {
    const { telemetry } = this.#ports.report;
    this.#ports.pace.charge(this.#source.did, { controls: 1 });
    await untilReadable(this.#source, this.#ports, this.#signal);
    switch (frame.kind) {
      case 'outdated_cursor':
        telemetry.quirk('outdated_cursor');
        this.#source.apply({ kind: 'tail_settled' });
        // Handle only the first message, because it refers to the cursor of the connection.
        if (!this.#outdated) await recordReset(this.#source, this.#ports, true);
        this.#outdated = true;
        return null;
      case 'future_cursor':
        telemetry.quirk('future_cursor');
        return this.#startOver();
      case 'consumer_too_slow':
        telemetry.quirk('consumer_too_slow');
        return { kind: 'ended', progress: this.#progress };
      case 'error':
        return { kind: 'fault', fault: 'failed', why: 'error frame', retryAfterMs: null };
      case 'info':
        telemetry.quirk('unknown_frame');
        return null;
      case 'unknown':
        telemetry.quirk('unknown_frame');
        this.#holeFound(before, account);
        return null;
      case 'malformed':
      case 'over_budget':
        telemetry.quirk(frame.kind === 'malformed' ? 'malformed_frame' : 'frame_over_budget');
        this.#holeFound(before, account);
        this.#malformed += 1;
        return this.#malformed < maxMalformed
          ? null
          : { kind: 'fault', fault: 'rejecting', why: 'malformed frames', retryAfterMs: null };
      default:
        return frame satisfies never;
    }
  }
}

/** Outcome of an attempt to read a source by its stream. */
export type SessionOutcome =
  /**
   * The connection was read, and the stream can be resumed. `progress` is true if the connection delivered new labels.
   * `poll` is the failure of concurrent polls if the connection delivered no label.
   */
  | { readonly kind: 'ended'; readonly progress: boolean; readonly poll?: SourceFault | null }
  /** The connection failed, or a limit of this instrument prevented it. */
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The labeler's database was reset, so the source must be read like a new one. */
  | { readonly kind: 'reset' };
