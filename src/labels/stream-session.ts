import type { Micros } from '../contract/timestamp.ts';
import type { ByteAccount } from '../input/decoded-bytes.ts';
import { ConnectError } from '../network/connect-error.ts';
import { Alignment, aligned } from './alignment.ts';
import { caughtUp, unread } from './catch-up.ts';
import { connectFault } from './faults.ts';
import { type Filled, fillBefore } from './fill-before.ts';
import { type FrameBatch, FrameQueue } from './frame-queue.ts';
import type { LabelFrame } from './frames.ts';
import { reservedMemory } from './input-memory.ts';
import type { SourceIntake } from './intake.ts';
import { type LastFrame, markOf, newOf } from './last-row.ts';
import { threadCpuMs } from './pace.ts';
import { authoredOf, forgetPosition, pollRound, recordReset } from './poll-round.ts';
import type { ReadPosition } from './position.ts';
import type { SessionOutcome } from './session-outcome.ts';
import { type ReaderTools, remember, type Source } from './source.ts';
import { untilReadable } from './throttle.ts';

/** Messages that cannot be read, one after the other, before a stream is taken for none. */
const mostMalformed = 20;

/**
 * One connection to `subscribeLabels`, from opening to end. Live first; beside it what lies before is filled in by
 * polls, which meet the live frames when they come to their end. A stream that is resumed is asked for its last frame
 * again: another one in its place means that the labeler's database is not the one that was read.
 */
export async function streamSession(
  source: Source,
  intake: SourceIntake,
  tools: ReaderTools,
  outer: AbortSignal,
): Promise<SessionOutcome> {
  // Each connection costs a handshake and its setup: a connection that ends at once is not reopened at once.
  tools.pace.charge(source.did, { controls: 1 });
  await untilReadable(source, tools, outer);
  const place = await tools.streams.acquire({ host: new URL(source.endpoint).host, ...source.peer }, 0, outer);
  if (typeof place === 'string') {
    if (place === 'busy') tools.telemetry.hostFull('stream');
    // Later labelers are polled, which costs the host no connection, and request a stream again later.
    return { kind: 'fault', fault: null, why: 'host_full', retryAfterMs: null };
  }
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const session = new Session(source, intake, tools, signal);
  // Frames may come before we know that it is open.
  let opened: { pause(): void } | null = null;
  try {
    const socket = await tools.openStream(
      source,
      session.resumeFrom,
      {
        partialMs: 30_000,
        onPartial: (bytes) => session.holdPartial(bytes),
        onFrame: (data) => {
          if (session.push(data)) opened?.pause();
        },
      },
      signal,
    );
    opened = socket;
    source.replayFrom = null;
    const openedAt = tools.clock();
    const resumed = session.resumeFrom !== null;
    const filling = fillBefore(source, intake, tools, { resumed, openedAt, signal });
    let unreadable = false;
    void socket.closed.then(({ reason }) => {
      unreadable = reason === 'too_large';
      session.close();
    });
    filling.then(
      ({ reset, replayFrom }) => {
        // The rows belong to another database: everything is read again, including the stream. Or the stream replays from further back.
        if (reset || replayFrom !== null) session.close();
      },
      // It is met again below.
      () => session.close(),
    );
    const outcome = await session.run({ filled: filling, openedAt, resume: () => socket.resume() });
    stop.abort();
    socket.close();
    const { reset, fault, replayFrom } = await filling;
    if (reset) return { kind: 'reset' };
    // What cannot be read at all would come again and again: polls go round it, and the stream begins behind it.
    if (unreadable || replayFrom !== null) await forgetNumber(source, intake);
    source.replayFrom = replayFrom;
    return outcome.kind === 'ended' ? { ...outcome, poll: session.answered ? null : fault } : outcome;
  } catch (error) {
    stop.abort();
    if (outer.aborted) return { kind: 'ended', progress: false };
    if (!(error instanceof ConnectError)) throw error;
    if (error.kind === 'busy') tools.telemetry.hostFull('stream');
    return { kind: 'fault', ...connectFault(error) };
  } finally {
    session.release();
    place();
  }
}

/** The stream goes on elsewhere than behind its last frame. */
async function forgetNumber(source: Source, intake: SourceIntake): Promise<void> {
  await intake.place((position) => {
    source.live = null;
    source.seen.clear();
    return { ...position, seq: null, seqTail: null };
  });
}

class Session {
  readonly #source: Source;
  readonly #intake: SourceIntake;
  readonly #tools: ReaderTools;
  readonly #signal: AbortSignal;
  readonly #frames: FrameQueue;
  /** Memory of the message that has not arrived in full. */
  readonly #partial: ByteAccount;
  /** Memory of the frames that are decoded and not yet stored. */
  readonly #decoded: ByteAccount;
  /** The stream's cursor: one before the last frame, so that it comes again. */
  readonly resumeFrom: number | null;
  /** True if it delivered anything, even if only known labels. */
  answered = false;
  #wake: (() => void) | null = null;
  #closed = false;
  #malformed = 0;
  /** True if the labeler reported that it no longer has everything after our cursor. */
  #outdated = false;
  #progress = false;
  /** True if polls have reached the first live frame. */
  #joined = false;
  readonly #alignment: Alignment;
  /** Time at which the stream was live when it opened, once it is known that polls do not fill in the time before. */
  #liveFrom: Micros | null = null;
  /** True if everything after the last read row arrives on this connection. */
  #resumed: boolean;
  /** Whether the frame that was last read still has to show up. */
  #expected: LastFrame | null;

  constructor(source: Source, intake: SourceIntake, tools: ReaderTools, signal: AbortSignal) {
    this.#source = source;
    this.#intake = intake;
    this.#tools = tools;
    this.#signal = signal;
    this.#partial = tools.memory.queued.open();
    this.#frames = new FrameQueue(tools.memory.queued.open());
    this.#decoded = tools.memory.decoded.open();
    this.#alignment = new Alignment(source, intake, tools, signal);
    const { seq, seqTail } = source.position;
    this.resumeFrom = seq === null ? source.replayFrom : Math.max(0, seq - 1);
    this.#expected = seq === null ? null : { seq, tail: seqTail };
    this.#resumed = this.resumeFrom !== null;
    source.contiguous = this.#resumed;
    source.live = null;
    if (seq === null) source.seen.clear();
    signal.addEventListener('abort', () => this.close());
  }

  /** Takes a message; true when no more should be read for now. */
  push(bytes: Uint8Array): boolean {
    const { pace } = this.#tools;
    const begun = threadCpuMs();
    const full = this.#frames.push(bytes);
    pace.charge(this.#source.did, { bytes: bytes.byteLength, cpuMs: threadCpuMs() - begun });
    this.#wake?.();
    return full || pace.isThrottled(this.#source.did);
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Takes note of how much of a message has arrived; true when no more should be read for now. */
  holdPartial(bytes: number): boolean {
    this.#partial.release();
    this.#partial.hold(bytes);
    return this.#partial.isOver;
  }

  /** Returns the memory that it holds. */
  release(): void {
    this.#frames.clear();
    this.#partial.release();
    this.#decoded.release();
  }

  async run(stream: { filled: Promise<Filled>; openedAt: Micros; resume: () => void }): Promise<SessionOutcome> {
    const { rhythm, wait } = this.#tools;
    stream.filled.then(
      ({ joined }) => {
        this.#joined = joined;
        // Without polls it is the stream alone that fills in: up to where it is live.
        if (!joined) this.#liveFrom = stream.openedAt;
      },
      () => undefined,
    );
    while (!this.#signal.aborted) {
      // Frames wait here, and then in the peer, until the source may be read again.
      await untilReadable(this.#source, this.#tools, this.#signal);
      const batch = this.#frames.next();
      if (batch === null) {
        if (this.#closed) return { kind: 'ended', progress: this.#progress };
        const quiet = new AbortController();
        const waking = new Promise<'woken'>((resolve) => {
          this.#wake = () => resolve('woken');
        });
        const replayed = this.#resumed && this.#liveFrom !== null && !this.#source.tracker.whole;
        const settled = this.#expected === null && !replayed && !(this.#resumed && this.#source.tracker.behind);
        const limit = settled ? rhythm.confirmMs : rhythm.resumeMs;
        const first = await Promise.race([waking, wait(limit, AbortSignal.any([this.#signal, quiet.signal]))]);
        quiet.abort();
        // It is confirmed once what lies before is filled in; what comes until then is not kept waiting.
        const filled = first === 'woken' ? first : await Promise.race([waking, stream.filled]);
        this.#wake = null;
        if (filled !== 'woken' && !this.#signal.aborted) {
          const end = await this.#confirm(filled.joined);
          if (end) return end;
        }
        continue;
      }
      const frames = await this.#take(batch);
      if (!this.#frames.isFull) stream.resume();
      const end = await this.#read(frames);
      this.#decoded.release();
      if (end) return end;
      if (this.#joined) this.#alignment.look();
    }
    return { kind: 'ended', progress: this.#progress };
  }

  /** Decodes frames once there is memory for them; a few at once, whatever the others take. None when reading ends meanwhile. */
  async #take(batch: FrameBatch): Promise<readonly LabelFrame[]> {
    const memory = this.#decoded;
    if (memory.tryTake(batch.cost)) return this.#frames.take(batch);
    const few = this.#frames.next(reservedMemory) ?? batch;
    const taken = await memory.take(few.cost, this.#signal);
    return taken === 'taken' ? this.#frames.take(few) : [];
  }

  /** The stream was quiet: looks whether it should have been. */
  async #confirm(polls: boolean): Promise<SessionOutcome | null> {
    if (polls) {
      this.#expected = null;
      const before = unread(this.#source, this.#tools);
      const round = await pollRound(this.#source, this.#intake, this.#tools, { before, signal: this.#signal });
      if (round.kind === 'quiet') await caughtUp(this.#source, this.#tools, before);
      return round.kind === 'reset' ? round : null;
    }
    if (this.#expected !== null) {
      // It was asked for its last frame again, and nothing came.
      this.#tools.telemetry.quirk('tail_missing');
      return this.#anew();
    }
    if (this.#resumed && !this.#source.tracker.whole) {
      await this.#caughtUp();
      return null;
    }
    // Nothing was ever given: there is no tail to look at.
    if (this.#source.position.seq === null) return null;
    // Connecting again asks for the last frame again.
    return { kind: 'ended', progress: this.#progress };
  }

  async #read(frames: readonly LabelFrame[]): Promise<SessionOutcome | null> {
    const rows: unknown[] = [];
    let last: LastFrame | null = null;
    let end: SessionOutcome | null = null;
    let again = false;
    for (const frame of frames) {
      if (frame.kind !== 'labels') {
        end = await this.#control(frame);
        if (end) break;
        continue;
      }
      this.#malformed = 0;
      const fresh = await this.#afterTail(frame.seq, frame.labels);
      if (fresh === 'reset') return { kind: 'reset' };
      rows.push(...fresh);
      const before: number = last?.seq ?? this.#source.position.seq ?? this.#source.live?.seq ?? -1;
      if (frame.seq < before) {
        again = true;
        this.#tools.telemetry.quirk('seq_not_advancing');
      } else last = { seq: frame.seq, tail: frame.labels.length === 0 ? null : markOf(frame.labels.at(-1)) };
      if (last?.tail) remember(this.#source, last.seq, last.tail);
    }
    // Rows under numbers that fall are rows; the position only moves on.
    if (last !== null || rows.length > 0) await this.#commit(rows, last, again);
    return end;
  }

  async #commit(rows: readonly unknown[], last: LastFrame | null, again: boolean): Promise<void> {
    this.#progress ||= rows.length > 0;
    this.answered = true;
    this.#tools.telemetry.page('stream');
    const source = this.#source;
    const move = (position: ReadPosition): ReadPosition =>
      last === null || (position.seq === null && !source.contiguous)
        ? position
        : {
            ...position,
            seq: last.seq,
            seqTail: last.tail,
            // Where numbers and cursors were seen to be one, they move as one.
            ...(aligned(position) ? { cursor: last.seq, cursorTail: last.tail } : {}),
          };
    const { tracker } = source;
    const readBefore = tracker.readAt;
    await this.#intake.take({ rows, way: 'stream', again, move }, this.#signal);
    source.live = last ?? source.live;
    if (!this.#resumed || tracker.whole || this.#liveFrom === null) return;
    // What was authored since it opened comes after everything that waited.
    const [from, now] = [this.#liveFrom, this.#tools.clock()];
    const isLive = (authored: Micros | null): boolean => authored !== null && authored >= from && authored <= now;
    const live = rows.map(authoredOf).filter(isLive).length;
    // Live rows were never missed: what was had come before them.
    if (live > 0) await this.#caughtUp(live === rows.length ? readBefore : tracker.readAt);
  }

  async #caughtUp(readAt = this.#source.tracker.readAt): Promise<void> {
    await caughtUp(this.#source, this.#tools, unread(this.#source, this.#tools), readAt);
  }

  /** Records a gap since the last read row; later labels arrive live. */
  async #reset(): Promise<void> {
    this.#resumed = false;
    await recordReset(this.#source, this.#tools);
    const { tracker } = this.#source;
    if (!tracker.behind) tracker.gaveUp(this.#tools.clock());
  }

  /** Starts over with another database. */
  async #anew(): Promise<SessionOutcome> {
    await recordReset(this.#source, this.#tools);
    await forgetPosition(this.#source, this.#intake);
    return { kind: 'reset' };
  }

  /** The labels of a frame that are new; the first frame of a resumed stream has to be the one that was read last. */
  async #afterTail(seq: number, labels: readonly unknown[]): Promise<readonly unknown[] | 'reset'> {
    const expected = this.#expected;
    if (expected === null) return labels;
    this.#expected = null;
    const fresh = newOf(expected, seq, labels);
    if (typeof fresh !== 'string') return fresh;
    this.#tools.telemetry.quirk('tail_missing');
    if (fresh === 'another') {
      await this.#anew();
      return 'reset';
    }
    await this.#reset();
    return labels;
  }

  async #control(frame: Exclude<LabelFrame, { kind: 'labels' }>): Promise<SessionOutcome | null> {
    const { telemetry, pace } = this.#tools;
    pace.charge(this.#source.did, { controls: 1 });
    await untilReadable(this.#source, this.#tools, this.#signal);
    switch (frame.kind) {
      case 'outdated_cursor':
        telemetry.quirk('outdated_cursor');
        this.#expected = null;
        // It answers the cursor that the connection was opened with: said again it means nothing.
        if (!this.#outdated) await this.#reset();
        this.#outdated = true;
        return null;
      case 'future_cursor':
        telemetry.quirk('future_cursor');
        return this.#anew();
      case 'consumer_too_slow':
        telemetry.quirk('consumer_too_slow');
        return { kind: 'ended', progress: this.#progress };
      case 'error':
        return { kind: 'fault', fault: 'failed', why: 'error frame', retryAfterMs: null };
      case 'unknown':
        telemetry.quirk('unknown_frame');
        return null;
      case 'malformed':
      case 'over_budget':
        telemetry.quirk(frame.kind === 'malformed' ? 'malformed_frame' : 'frame_over_budget');
        this.#malformed += 1;
        return this.#malformed < mostMalformed
          ? null
          : { kind: 'fault', fault: 'rejecting', why: 'malformed frames', retryAfterMs: null };
      default:
        return frame satisfies never;
    }
  }
}
