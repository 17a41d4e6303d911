import type { FrameFacts, Notice } from '../classify/event-body.ts';
import { type End, type Position, Progress } from '../position/position.ts';
import { Standstill, StreamRate } from '../position/standstill.ts';
import { Replay } from './replay.ts';
import {
  countMetric,
  emptyDelta,
  futureUs,
  type Interval,
  ObservedSpans,
  type WindowDelta,
  windowFlag,
  windowStart,
  windowUs,
} from './window.ts';

/** Minimum delay at which an event counts as replayed from the host's history, in microseconds. */
const replayedUs = 120_000_000;
/** Minimum age of history that hosts may have compacted, in microseconds. */
const compactedUs = 4 * 3_600_000_000;
/** Minimum delay at which a late event flags the window at the position instead of its own window, in microseconds. */
const farBehindUs = 3_600_000_000;
/** Maximum numbers of uncommitted windows and spans. When one of them is reached, the data is committed immediately. */
const maxOpen = { windows: 1024, spans: 4096 };

/**
 * Outcomes of a frame. `skipped`: the event was counted before. `future` and `past`: the event's time is too far
 * ahead or too old. `implausible`: the event's number cannot be correct. `resync`: the frame is a row that repeats a
 * repository. `notice`: the frame is a notice of the host.
 */
export const frameOutcomes = [
  'counted',
  'skipped',
  'late_or_repeat',
  'parse_error',
  'no_time_us',
  'future',
  'past',
  'implausible',
  'beyond_end',
  'resync',
  'notice',
] as const;
export type FrameOutcome = (typeof frameOutcomes)[number];

/** Results of a track between two calls of `take`, and the position at the second call. */
export interface TrackGain {
  readonly position: Position | null;
  readonly windows: readonly WindowDelta[];
  /** Spans of the stream's clock in which the stream was provably observed, sorted and disjoint. */
  readonly observed: readonly Interval[];
  /** Unobserved time of the stream's clock, in microseconds. */
  readonly gapUs: number;
  /** Number of times that a wrong position was abandoned. */
  readonly resets: number;
  readonly outcomes: Readonly<Record<FrameOutcome, number>>;
}

/** Initial state, settings and clock of a track. */
interface TrackStart {
  readonly position: Position | null;
  /** Last event that a backfill counts, or null for the live reader. */
  readonly end: End | null;
  /** Recent events per second from an earlier process, or null if unknown. */
  readonly rate: number | null;
  /** Maximum age of a usable event time, in microseconds. It does not apply if a number orders the events. */
  readonly oldestUs?: number;
  /** True if the host numbers every event that it sends, so that a jump means a loss or an unused number. */
  readonly dense?: boolean;
  /** Returns the time of this machine's wall clock, in microseconds. */
  readonly clockUs: () => number;
}

/**
 * One reader's view of a host's stream. It counts each event once, in the window of its `time_us`, and records the
 * observed spans of the stream's clock. Methods must be called in the order of the frames. No method waits or does I/O.
 */
export class Track {
  readonly #progress: Progress;
  #rate = new StreamRate();
  readonly #clockUs: () => number;
  #windows = new Map<number, WindowDelta>();
  #window = emptyDelta(-windowUs);
  readonly #observed = new ObservedSpans();
  #gapUs = 0;
  #outcomes = noOutcomes();
  #nowUs = 0;
  /** True if a connection has begun and delivered no counted event yet. */
  #newConnection = false;
  /** Number of unreadable frames since the last readable number. */
  #unread = 0;
  readonly #replay: Replay;
  #done = false;
  #liveStart: End | null = null;
  /** Detector of a wrong position, or null for a backfill, which ends at a given event. */
  readonly #standstill: Standstill | null;
  readonly #oldestUs: number;
  readonly #dense: boolean;
  /** Minimum usable event time, in microseconds. */
  #floorUs = Number.POSITIVE_INFINITY;
  #resets = 0;

  constructor({ position, end, rate, oldestUs, dense, clockUs }: TrackStart) {
    this.#progress = new Progress(position, end);
    this.#standstill = end === null ? new Standstill() : null;
    if (rate !== null) this.#rate.seed(rate);
    this.#oldestUs = oldestUs ?? Number.POSITIVE_INFINITY;
    this.#dense = dense ?? false;
    this.#clockUs = clockUs;
    this.#replay = new Replay(clockUs);
  }

  /** Starts a connection that resumes at the position or earlier. */
  resume(): void {
    this.#progress.resume();
    this.#newConnection = true;
    this.#replay.start();
    this.#unread = 0;
  }

  /** Starts a connection at the present; see `Progress.goLive`. */
  goLive(leaveFirst: boolean): void {
    this.#progress.goLive(leaveFirst);
    this.#newConnection = true;
    this.#replay.end();
    this.#unread = 0;
  }

  /**
   * Records that the host no longer has the number of the position. The remaining history of the host is then read by
   * time.
   */
  tooOld(): void {
    this.#progress.forgetNumber();
  }

  get position(): Position | null {
    return this.#progress.position;
  }

  /** True if the end has been reached, so that no further event is counted. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * Returns the first event of the current live connection, up to which a backfill must count, and clears it. Returns
   * null if no live connection has begun since the last call.
   */
  takeLiveStart(): End | null {
    const start = this.#liveStart;
    this.#liveStart = null;
    return start;
  }

  /** Maximum silence of the stream, in microseconds. */
  get silenceUs(): number {
    return this.#rate.silenceUs;
  }

  /** True if the uncommitted data has reached its maximum size and should be taken. */
  get full(): boolean {
    return this.#windows.size >= maxOpen.windows || this.#observed.size >= maxOpen.spans;
  }

  /** Counts one frame and returns its outcome. The facts are read before the method returns and are not kept. */
  frame(facts: FrameFacts): FrameOutcome {
    const outcome = facts.outcome === 'counted' ? this.#timed(facts) : this.#uncounted(facts);
    this.#outcomes[outcome] += 1;
    return outcome;
  }

  /** Returns the results since the last call and clears them. */
  take(): TrackGain {
    const gain = {
      position: this.#progress.position,
      windows: [...this.#windows.values()],
      observed: this.#observed.take(),
      gapUs: this.#gapUs,
      resets: this.#resets,
      outcomes: this.#outcomes,
    };
    this.#windows = new Map();
    this.#window = emptyDelta(-windowUs);
    this.#gapUs = 0;
    this.#resets = 0;
    this.#outcomes = noOutcomes();
    return gain;
  }

  #uncounted({ outcome, notice, seq, timeUs }: FrameFacts): FrameOutcome {
    switch (outcome) {
      case 'resync':
        return this.#passOver(seq ?? 0, timeUs);
      case 'notice':
        this.#heed(notice);
        return outcome;
      default:
        return this.#unusable(outcome);
    }
  }

  /** Processes a row of a re-sync. The row advances only the number, because its time is the time of its `sync`. */
  #passOver(seq: number, timeUs: number): FrameOutcome {
    const verdict = this.#progress.pass(seq, timeUs);
    if (verdict === 'reused') return this.#reuse();
    if (verdict === 'beyond_end') this.#done = true;
    if (verdict === 'implausible') return this.#unusable(verdict);
    if (verdict !== 'counted') return verdict === 'beyond_end' ? verdict : 'skipped';
    const window = this.#at(this.#progress.timeUs);
    window.resync += 1;
    this.#leaveOut(window, window.start);
    if (!this.#progress.continuous) this.#progress.miss(Number.POSITIVE_INFINITY);
    return 'resync';
  }

  #heed(notice: Notice): void {
    if (notice === 'future_cursor' && this.#progress.resuming) this.#renumbered(true);
  }

  /** Handles a restart of the host's numbering. A backfill cannot continue, and live reading starts again. */
  #renumbered(isLive: boolean): void {
    if (this.#standstill === null) this.#done = true;
    else this.#giveUp(0, isLive);
  }

  #giveUp(gapUs: number, isLive: boolean): void {
    this.#progress.reset(isLive);
    this.#rate = new StreamRate();
    this.#gapUs += gapUs;
    this.#resets += 1;
    this.#newConnection = true;
    this.#replay.end();
  }

  /**
   * Adds the numbers that the host omitted before an event, minus the unreadable frames, which used numbers of the same
   * sequence. `before` is the time of the event that precedes the omitted numbers.
   */
  #leaveOut(window: WindowDelta, before: number): void {
    const leftOut = Math.max(0, this.#progress.leftOut - this.#unread);
    this.#unread = 0;
    if (leftOut === 0) return;
    window.flags |= windowFlag.leftOut;
    // A host compacts everything that precedes the start of a pass, whatever its age, so a replay shortly afterwards
    // lacks recent events too. They may belong to the minute of the event before the omitted numbers. The legacy
    // protocol also hides numbers that are not events, which cannot be told from compacted ones.
    if (this.#replay.isRunning) {
      window.flags |= windowFlag.compacted;
      if (before < window.start) this.#at(before).flags |= windowFlag.compacted;
      return;
    }
    // On a live connection of this protocol, which hides no events, every omitted number may be an unobserved event.
    if (!this.#dense) return;
    window.leftOut += leftOut;
    this.#progress.breakOff();
  }

  #timed(facts: FrameFacts): FrameOutcome {
    const { timeUs } = facts;
    if (timeUs > this.#nowUs + futureUs || timeUs < this.#floorUs) {
      this.#look();
      if (timeUs > this.#nowUs + futureUs) {
        // This machine's clock may be wrong. The event is then lost, so the observation ends before the event.
        this.#progress.miss(timeUs);
        return this.#unusable('future');
      }
      if (timeUs < this.#floorUs && !(facts.seq !== null && this.#progress.numbered)) return this.#unusable('past');
    }
    const before = this.#progress.started ? this.#progress.timeUs : null;
    let verdict = this.#progress.take(facts.seq, timeUs, facts.creates);
    if (verdict === 'reused') return this.#reuse();
    if (verdict === 'renumbered') {
      this.#renumbered(false);
      if (this.#done) return 'beyond_end';
      verdict = this.#progress.take(facts.seq, timeUs, facts.creates);
    }
    if (verdict === 'counted') this.#count(facts, before);
    else if (verdict === 'late_or_repeat') this.#late(timeUs);
    else if (verdict === 'implausible') this.#unusable(verdict);
    else if (verdict === 'beyond_end') this.#done = true;
    else if (this.#progress.timeUs > (before ?? 0)) this.#begin(facts.seq, timeUs);
    if (this.#standstill !== null && !this.#progress.reusing) this.#judgePosition(this.#standstill, timeUs, before);
    return verdict === 'renumbered' || verdict === 'reused' ? 'skipped' : verdict;
  }

  /**
   * Begins to skip events whose numbers the host uses again. The position stays, so that nothing up to it is counted
   * again. A backfill ends, because it has no such position.
   */
  #reuse(): FrameOutcome {
    this.#resets += 1;
    this.#done = this.#standstill === null;
    return this.#done ? 'beyond_end' : 'skipped';
  }

  /** Abandons the position if the stream advances without it, and records the uncounted time as a gap. */
  #judgePosition(standstill: Standstill, timeUs: number, before: number | null): void {
    const position = this.#progress.timeUs;
    if (before === null || position > before) {
      standstill.moved();
      return;
    }
    this.#nowUs = this.#clockUs();
    const wrongUs = standstill.event(timeUs, position, this.#nowUs);
    if (wrongUs === 0) return;
    this.#giveUp(wrongUs, true);
  }

  #count(facts: FrameFacts, before: number | null): void {
    const { timeUs } = facts;
    // Count an event with an imported old time but a continuous number in the current minute.
    const placed = before !== null && timeUs < before - farBehindUs ? before : timeUs;
    const window = this.#at(placed);
    window.events += 1;
    this.#leaveOut(window, before ?? placed);
    for (let i = 0; i < facts.metricCount; i += 1) countMetric(window, facts.metrics[i] ?? 0, placed);
    this.#watch(timeUs, before);
    if (this.#newConnection) {
      this.#newConnection = false;
      window.flags |= windowFlag.seam;
    }
    if (this.#replay.reachesPresent(timeUs)) window.flags |= windowFlag.possibleLoss;
  }

  /** Adds the span up to this event to the observed time if no event was missed and the silence was not too long. */
  #watch(timeUs: number, before: number | null): void {
    const elapsed = before === null ? 0 : timeUs - before;
    if (elapsed < 0) return;
    const linked = before !== null && this.#progress.continuous && elapsed <= this.#rate.silenceUs;
    this.#rate.event(timeUs, linked);
    if (linked) {
      if (this.#observed.to <= before) this.#observed.open(before);
    } else {
      if (before !== null) this.#gapUs += Math.max(0, elapsed - 1);
      this.#observed.open(timeUs);
    }
    this.#observed.extend(timeUs);
  }

  /** Starts the observation at the first event of a live connection. The backfill counts that event. */
  #begin(seq: number | null, timeUs: number): void {
    this.#liveStart = { seq, timeUs };
    this.#observed.open(timeUs);
    this.#observed.extend(timeUs);
  }

  /** Updates the minimum usable time from the clock. */
  #look(): void {
    this.#nowUs = this.#clockUs();
    this.#floorUs = this.#nowUs - this.#oldestUs;
  }

  #late(timeUs: number): void {
    const frontier = this.#progress.timeUs;
    const window = this.#at(timeUs > frontier - farBehindUs ? timeUs : frontier);
    window.lateOrRepeat += 1;
    window.flags |= windowFlag.lateOrRepeat;
  }

  /** Counts a frame without a usable time at the position. A repeated frame was counted when it first arrived. */
  #unusable(outcome: FrameOutcome): FrameOutcome {
    if (!this.#progress.started || this.#progress.resuming) return outcome;
    this.#unread += 1;
    const window = this.#at(this.#progress.timeUs);
    window.malformed += 1;
    window.flags |= windowFlag.malformed;
    return outcome;
  }

  #at(timeUs: number): WindowDelta {
    const { start } = this.#window;
    if (timeUs >= start && timeUs < start + windowUs) return this.#window;
    const wanted = windowStart(timeUs);
    let window = this.#windows.get(wanted);
    if (!window) {
      window = emptyDelta(wanted);
      this.#look();
      const late = this.#nowUs - wanted - windowUs;
      if (late > replayedUs) window.flags |= windowFlag.replayed;
      if (late > compactedUs) window.flags |= windowFlag.compacted;
      this.#windows.set(wanted, window);
    }
    this.#window = window;
    return window;
  }
}

function noOutcomes(): Record<FrameOutcome, number> {
  return Object.fromEntries(frameOutcomes.map((outcome) => [outcome, 0])) as Record<FrameOutcome, number>;
}
