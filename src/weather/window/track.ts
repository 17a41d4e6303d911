import type { FrameFacts, Notice } from '../classify/frame-facts.ts';
import { type Interval, union } from './interval.ts';
import { type End, type Position, Progress } from './position.ts';
import { Standstill } from './standstill.ts';
import { StreamRate } from './stream-rate.ts';
import { countMetric, emptyDelta, type WindowDelta, windowFlag, windowStart, windowUs } from './window.ts';

/** Events further ahead of this machine's clock than this have no usable time: one would carry the position away. */
export const futureUs = 60_000_000;
/** Events later than this were replayed from the host's history. */
const replayedUs = 120_000_000;
/** A replay has met live when an event is no later than this. */
const liveUs = 2_000_000;
/** Hosts may compact their history when it is this old. */
const compactedUs = 4 * 3_600_000_000;
/** An event older than this flags the window at the position, not its own. */
const farBehindUs = 3_600_000_000;
/** Maximum number of interruptions in one window; after them, the rest of it does not count as observed. */
const maxBreaksPerWindow = 16;
/** Number of open windows or spans at which they are committed immediately. */
const maxOpen = { windows: 1024, spans: 4096 };

/**
 * Outcomes of a frame. `skipped` were counted before the cursor; `future` and `past` have no usable time, `implausible` no
 * usable number. `resync` are rows that repeat a repository; `notice`, notices of the host.
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

/** Gain of a track since it was last taken, and its position at that time. */
export interface TrackGain {
  readonly position: Position | null;
  readonly windows: readonly WindowDelta[];
  /** Spans of the stream's clock during which the stream was provably live; sorted and disjoint. */
  readonly observed: readonly Interval[];
  /** Microseconds that were charged as not observed. */
  readonly gapUs: number;
  /** Number of times that the position was abandoned because the stream did not contain it. */
  readonly resets: number;
  readonly outcomes: Readonly<Record<FrameOutcome, number>>;
}

/** Initial state of a track. */
export interface TrackStart {
  readonly position: Position | null;
  /** Set for a backfill: the last event that it counts. */
  readonly end: End | null;
  /** Recent events per second, where they are known from before. */
  readonly rate: number | null;
  /** Events further behind this machine's clock than this have no usable time, unless a number orders them. */
  readonly oldestUs?: number;
  /** The host numbers every event that it sends: a jump is a loss, or a number that it never used. */
  readonly dense?: boolean;
  /** This machine's wall clock, microseconds. */
  readonly clockUs: () => number;
}

/**
 * One reader of a host's stream: counts each event once, in the window of its `time_us`, and keeps which spans of
 * the stream's clock were watched. The order of calls is the order of frames; nothing here waits or does I/O.
 */
export class Track {
  readonly #progress: Progress;
  #rate = new StreamRate();
  readonly #clockUs: () => number;
  #windows = new Map<number, WindowDelta>();
  #window = emptyDelta(-windowUs);
  #observed: Interval[] = [];
  #from = 0;
  #to = 0;
  #gapUs = 0;
  #outcomes = noOutcomes();
  #nowUs = 0;
  /** A connection began, and its first counted event has not come yet. */
  #newConnection = false;
  /** Frames since the last readable number that could not be read. */
  #unread = 0;
  /** A replay is under way, and has not met live yet. */
  #replaying = false;
  #done = false;
  #liveStart: End | null = null;
  /** Null for a backfill, which ends at what it is told. */
  readonly #standstill: Standstill | null;
  readonly #oldestUs: number;
  readonly #dense: boolean;
  /** Events before this have no usable time. */
  #floorUs = Number.POSITIVE_INFINITY;
  #breaks = 0;
  #breaksWindow = 0;
  /** Nothing before this is claimed as watched. */
  #unclaimedTo = 0;
  #resets = 0;

  constructor({ position, end, rate, oldestUs, dense, clockUs }: TrackStart) {
    this.#progress = new Progress(position, end);
    this.#standstill = end === null ? new Standstill() : null;
    if (rate !== null) this.#rate.seed(rate);
    this.#oldestUs = oldestUs ?? Number.POSITIVE_INFINITY;
    this.#dense = dense ?? false;
    this.#clockUs = clockUs;
  }

  /** A connection begins that was asked to resume at the position, or before it: at the number `asked`. */
  resume(asked?: number): void {
    this.#progress.resume(asked);
    this.#newConnection = true;
    this.#replaying = true;
    this.#unread = 0;
  }

  /** A connection begins that was asked for what comes now; see `Progress.goLive`. */
  goLive(leaveFirst: boolean): void {
    this.#progress.goLive(leaveFirst);
    this.#newConnection = true;
    this.#replaying = false;
    this.#unread = 0;
  }

  /** The host has no history so old as the number of the position: what it still has is read from its time on. */
  tooOld(): void {
    this.#progress.forgetNumber();
  }

  get position(): Position | null {
    return this.#progress.position;
  }

  /** True if the end was reached: nothing more will be counted. */
  get done(): boolean {
    return this.#done;
  }

  /** The event that a live connection began with and left to a backfill, told once; null when there is none. */
  takeLiveStart(): End | null {
    const start = this.#liveStart;
    this.#liveStart = null;
    return start;
  }

  /** Maximum silence of the stream, in microseconds. */
  get silenceUs(): number {
    return this.#rate.silenceUs;
  }

  /** True if so much is uncommitted that it should be taken now. */
  get full(): boolean {
    return this.#windows.size >= maxOpen.windows || this.#observed.length >= maxOpen.spans;
  }

  /** Counts one frame. The facts are read before it returns and not kept. */
  frame(facts: FrameFacts): FrameOutcome {
    const outcome = facts.outcome === 'counted' ? this.#timed(facts) : this.#uncounted(facts);
    this.#outcomes[outcome] += 1;
    return outcome;
  }

  /** Hands over what was gained, and starts again from nothing. */
  take(): TrackGain {
    this.#closeSpan();
    const gain = {
      position: this.#progress.position,
      windows: [...this.#windows.values()],
      observed: union(this.#observed),
      gapUs: this.#gapUs,
      resets: this.#resets,
      outcomes: this.#outcomes,
    };
    this.#windows = new Map();
    this.#window = emptyDelta(-windowUs);
    this.#observed = [];
    this.#from = this.#to;
    this.#gapUs = 0;
    this.#resets = 0;
    this.#outcomes = noOutcomes();
    return gain;
  }

  #uncounted({ outcome, notice, seq }: FrameFacts): FrameOutcome {
    switch (outcome) {
      case 'resync':
        return this.#passOver(seq ?? 0);
      case 'notice':
        this.#heed(notice);
        return outcome;
      default:
        return this.#unusable(outcome);
    }
  }

  /** A row of a re-sync moves the number alone: its time is that of its `sync`. */
  #passOver(seq: number): FrameOutcome {
    const verdict = this.#progress.pass(seq);
    if (verdict === 'beyond_end') this.#done = true;
    if (verdict === 'implausible') return this.#unusable(verdict);
    if (verdict !== 'counted') return verdict === 'beyond_end' ? verdict : 'skipped';
    const window = this.#at(this.#progress.timeUs);
    window.resync += 1;
    this.#leaveOut(window);
    if (!this.#progress.continuous) this.#progress.miss(Number.POSITIVE_INFINITY);
    return 'resync';
  }

  #heed(notice: Notice): void {
    if (notice === 'future_cursor' && this.#progress.resuming) this.#renumbered();
  }

  /** The host's numbers differ from those of the position. A backfill cannot continue; live reading begins again. */
  #renumbered(): void {
    if (this.#standstill === null) this.#done = true;
    else this.#giveUp(0);
  }

  #giveUp(gapUs: number): void {
    this.#progress.reset();
    this.#rate = new StreamRate();
    this.#gapUs += gapUs;
    this.#resets += 1;
    this.#newConnection = true;
    this.#replaying = false;
  }

  /** Frames that came and could not be read had the numbers that their event would have had: they are not left out. */
  #leaveOut(window: WindowDelta): void {
    const leftOut = Math.max(0, this.#progress.leftOut - this.#unread);
    this.#unread = 0;
    if (leftOut === 0) return;
    window.flags |= windowFlag.leftOut;
    if (!this.#dense || this.#replaying) return;
    // Nothing is hidden on this wire: what the numbers stood for was not observed.
    window.leftOut += leftOut;
    this.#progress.breakOff();
  }

  #timed(facts: FrameFacts): FrameOutcome {
    const { timeUs } = facts;
    if (timeUs > this.#nowUs + futureUs || timeUs < this.#floorUs) {
      this.#look();
      if (timeUs > this.#nowUs + futureUs) {
        // Perhaps it is this machine's clock that is wrong, and the event is lost: the watch ends before it.
        this.#progress.miss(timeUs);
        return this.#unusable('future');
      }
      if (timeUs < this.#floorUs && !(facts.seq !== null && this.#progress.numbered)) return this.#unusable('past');
    }
    const before = this.#progress.started ? this.#progress.timeUs : null;
    let verdict = this.#progress.take(facts.seq, timeUs);
    if (verdict === 'renumbered') {
      this.#renumbered();
      if (this.#done) return 'beyond_end';
      verdict = this.#progress.take(facts.seq, timeUs);
    }
    if (verdict === 'counted') this.#count(facts, before);
    else if (verdict === 'late_or_repeat') this.#late(timeUs);
    else if (verdict === 'implausible') this.#unusable(verdict);
    else if (verdict === 'beyond_end') this.#done = true;
    else if (before === null || this.#progress.timeUs > before) this.#begin(facts.seq, timeUs);
    if (this.#standstill !== null) this.#judgePosition(this.#standstill, timeUs, before);
    return verdict === 'renumbered' ? 'skipped' : verdict;
  }

  /** Gives the position up when the stream runs on without it. What the wrong position kept from being counted is a gap. */
  #judgePosition(standstill: Standstill, timeUs: number, before: number | null): void {
    const position = this.#progress.timeUs;
    if (before === null || position > before) {
      standstill.moved();
      return;
    }
    this.#nowUs = this.#clockUs();
    const wrongUs = standstill.event(timeUs, position, this.#nowUs);
    if (wrongUs === 0) return;
    this.#giveUp(wrongUs);
  }

  #count(facts: FrameFacts, before: number | null): void {
    const { timeUs } = facts;
    // An imported stamp may be years old while the number goes on: its event is of now.
    const placed = before !== null && timeUs < before - farBehindUs ? before : timeUs;
    const window = this.#at(placed);
    window.events += 1;
    this.#leaveOut(window);
    for (let i = 0; i < facts.metricCount; i += 1) countMetric(window, facts.metrics[i] ?? 0, placed);
    this.#watch(timeUs, before);
    if (this.#newConnection) {
      this.#newConnection = false;
      window.flags |= windowFlag.seam;
    }
    if (this.#replaying && timeUs >= this.#nowUs - liveUs) this.#meetLive(timeUs, window);
  }

  #meetLive(timeUs: number, window: WindowDelta): void {
    this.#nowUs = this.#clockUs();
    if (timeUs < this.#nowUs - liveUs) return;
    this.#replaying = false;
    window.flags |= windowFlag.possibleLoss;
  }

  /** The span up to this event was watched when nothing between was missed and the silence was an ordinary one. */
  #watch(timeUs: number, before: number | null): void {
    const elapsed = before === null ? 0 : timeUs - before;
    if (elapsed < 0) return;
    const linked = before !== null && this.#progress.continuous && elapsed <= this.#rate.silenceUs;
    this.#rate.event(timeUs, linked);
    if (linked) {
      if (this.#to <= before) this.#openSpan(before);
    } else {
      if (before !== null) this.#gapUs += Math.max(0, elapsed - 1);
      this.#openSpan(timeUs);
    }
    this.#to = timeUs + 1;
  }

  /** The first event of a live connection, left to the backfill: the watch begins with it. */
  #begin(seq: number | null, timeUs: number): void {
    this.#liveStart = { seq, timeUs };
    this.#openSpan(timeUs);
    this.#to = timeUs + 1;
  }

  #openSpan(from: number): void {
    this.#closeSpan();
    this.#from = from;
    const window = windowStart(from);
    if (window !== this.#breaksWindow) {
      this.#breaksWindow = window;
      this.#breaks = 0;
    }
    this.#breaks += 1;
    if (this.#breaks > maxBreaksPerWindow) this.#unclaimedTo = window + windowUs;
  }

  #closeSpan(): void {
    const from = Math.max(this.#from, this.#unclaimedTo);
    if (this.#to > from) this.#observed.push({ from, to: this.#to });
  }

  /** Looks at the clock. */
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

  /** A frame without a usable time belongs to the window at the position; before it, it was counted when it first came. */
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
