/**
 * A reader's position in one host's stream. All events before `value` have been counted. Several events may have this
 * value, because a whole batch may share one `time_us`: the first `counted` of them have been counted.
 */
export interface Position {
  /** `seq` if the host's frames contain sequence numbers, otherwise `time`. */
  readonly kind: 'time' | 'seq';
  readonly value: number;
  readonly counted: number;
  /** Latest `time_us` of the counted events, in microseconds. */
  readonly timeUs: number;
}

/**
 * Special value of `counted`: all events at the position are skipped. They were counted, or another reader counts them.
 */
const allAtValue = 2 ** 31;

/** Smallest cursor that every host treats as a time in microseconds. No event has such a large number. */
const firstTimeCursor = 1_000_000_000_000_000;
/**
 * Maximum jump of the sequence number if no time has passed. Hosts omit numbers after a crash, on compaction, and for
 * hidden rows.
 */
const jumpAtOnce = 10_000_000;
/** Additional jump allowed per second of the stream's clock. It is far more than the events of any network. */
const jumpPerSecond = 100_000;
/** Time after the end of a backfill, in microseconds, from which every event is beyond the end, whatever its number. */
const endToleranceUs = 5_000_000;

/** Returns true if a stored position can be resumed. Hosts treat larger values as times, not as numbers. */
export function isUsable({ kind, value }: Position): boolean {
  return kind === 'time' || value < firstTimeCursor;
}

/** The event at which another reader begins. This reader counts events up to and including that event. */
export interface End {
  readonly seq: number | null;
  readonly timeUs: number;
}

/**
 * Verdict on an event. `counted`: it is new. `skipped`: it was requested again and is already counted.
 * `late_or_repeat`: it precedes the position and was not requested; counting it might count it twice. `beyond_end`:
 * another reader counts it. `implausible`: its number cannot follow the position and does not become the position.
 * `renumbered`: the host has restarted its numbering. `reused`: the host has lost its last events, and uses their
 * numbers again.
 */
type Verdict = 'counted' | 'skipped' | 'late_or_repeat' | 'beyond_end' | 'implausible' | 'renumbered' | 'reused';

/** Maximum number of event numbers that a host may lose and use again. If more are lost, its numbering is another one. */
const maxReused = 1_000_000;
/**
 * Number of events that are skipped after the last reused number: a host processes accounts in parallel, so the events
 * that it reads again have another order.
 */
const reuseMargin = 256;
/** Maximum time for which numbers that are used again are skipped, in microseconds. */
const maxReusedUs = 3_600_000_000;

/**
 * Tracks the progress of a reader. Decides for each event whether it is new, and advances the position. A host sends
 * the event at the cursor again. It may also start long before the cursor, change or ignore the cursor, or repeat
 * events. Therefore only the position determines which events are new.
 */
export class Progress {
  #has = false;
  #bySeq = false;
  #value = 0;
  #counted = 0;
  #timeUs = 0;
  /**
   * Latest time of the rows that advanced the number after the last counted event; infinite if it is not known, because
   * a stored position has no such time.
   */
  #rowsUs = 0;
  #state: 'resuming' | 'starting' | 'following' | 'reusing' = 'starting';
  #leaveFirst = false;
  /** True if the connection replays history, which may begin with a download of the repositories. */
  #isReplay = false;
  /** True if this connection delivered an event that is not a create, so that no row of a download follows. */
  #proven = false;
  /** Latest time of the events of this connection that were skipped although they may be new, or 0. */
  #skippedUs = 0;
  /** Number of events at the position to skip, because the host went back in the stream. */
  #owed = 0;
  #rewound = false;
  #sawAt = false;
  #sawBefore = false;
  /** True if an event later than the position was skipped without being counted. */
  #missed = false;
  readonly #end: End | null;
  /** Set after `counted`: true if all events that the host sent since the previous position were read. */
  continuous = false;
  /** Set after `counted`: the number of sequence numbers that the host omitted before the event. */
  leftOut = 0;

  constructor(position: Position | null, end: End | null = null) {
    this.#end = end;
    if (position) this.#set(position);
  }

  /** Returns the position, or null before the first event. */
  get position(): Position | null {
    if (!this.#has) return null;
    const kind = this.#bySeq ? 'seq' : 'time';
    return { kind, value: this.#value, counted: this.#counted, timeUs: this.#timeUs };
  }

  /** True if there is a position, because an event was counted or a stored position was given. */
  get started(): boolean {
    return this.#has;
  }

  /** Latest `time_us` of the counted events, in microseconds, or 0 before the first event. */
  get timeUs(): number {
    return this.#timeUs;
  }

  /** True if the position is a sequence number of the host, which orders events regardless of their times. */
  get numbered(): boolean {
    return this.#has && this.#bySeq;
  }

  /** True while events are skipped because the host uses their numbers again. */
  get reusing(): boolean {
    return this.#state === 'reusing';
  }

  /** True if events before the position may still arrive on this connection. */
  get resuming(): boolean {
    return this.#state === 'resuming';
  }

  /** Starts a connection that resumes at the position or earlier. */
  resume(): void {
    this.#state = 'resuming';
    this.#isReplay = true;
    this.#proven = false;
    this.#skippedUs = 0;
    this.#owed = this.#counted;
    this.#rewound = false;
    this.#sawAt = false;
    this.#sawBefore = false;
  }

  /**
   * Starts a connection at the present. If `leaveFirst` is true, its first event is the last event of another reader.
   */
  goLive(leaveFirst: boolean): void {
    this.#state = 'starting';
    this.#isReplay = false;
    this.#leaveFirst = leaveFirst;
    this.#rewound = false;
  }

  /** Falls back to the time of the position, because its number is no longer usable. */
  forgetNumber(): void {
    if (!this.numbered) return;
    this.#bySeq = false;
    this.#value = this.#timeUs;
    this.#counted = allAtValue;
  }

  /**
   * Abandons the position because it was wrong. The next event starts a new position. `isLive` is true if that event is
   * certainly not part of the host's history.
   */
  reset(isLive: boolean): void {
    if (isLive) this.#isReplay = false;
    this.#has = false;
    this.#bySeq = false;
    this.#value = 0;
    this.#counted = 0;
    this.#timeUs = 0;
    this.#state = 'starting';
    this.#leaveFirst = false;
    this.#owed = 0;
    this.#rewound = false;
    this.#missed = false;
  }

  /** Records that the next event does not directly continue the earlier events. */
  breakOff(): void {
    this.continuous = false;
  }

  /**
   * Records an event that is not counted because of its time. If the event is ahead of the position, the next event is
   * not continuous.
   */
  miss(timeUs: number): void {
    if (timeUs > this.#timeUs) this.#missed = true;
  }

  /**
   * Records a row that is not an event. The row advances the number but not the time, and cannot start a position. Its
   * time, which is that of its `sync`, shows only whether the host uses its number again.
   */
  pass(seq: number, timeUs: number): Verdict {
    if (!this.numbered || this.#state === 'starting') return 'skipped';
    const isReused = timeUs > this.#rowsUs && this.#isReused(seq, timeUs);
    const verdict = this.#judge(seq, isReused ? timeUs : this.#timeUs, true);
    if (verdict === 'counted') this.#rowsUs = Math.max(this.#rowsUs, timeUs);
    return verdict;
  }

  /**
   * Records an event. `creates` is true if it may be a row of a download. A host sends its download before all of its
   * events, and as creates only. Where a replay may begin within a download, creates are therefore skipped until the
   * first event of another kind.
   */
  take(seq: number | null, timeUs: number, creates: boolean): Verdict {
    const verdict = this.#judge(seq, timeUs, creates);
    if (verdict !== 'counted') return verdict;
    this.#rowsUs = 0;
    if (this.#missed) {
      this.continuous = false;
      this.#missed = false;
    }
    return verdict;
  }

  #judge(seq: number | null, timeUs: number, creates: boolean): Verdict {
    this.leftOut = 0;
    if (seq !== null && seq >= firstTimeCursor) return this.#implausible(timeUs);
    if (this.#end !== null && isBeyond(this.#end, seq, timeUs)) return 'beyond_end';
    if (!this.#has) return this.#start(seq, timeUs, creates);
    const inKind = !this.#bySeq || seq !== null;
    const key = this.#bySeq && seq !== null ? seq : timeUs;
    const value = inKind ? this.#value : this.#timeUs;
    if (seq !== null && this.#isReused(seq, timeUs)) return this.#reuse(seq, timeUs);
    if (key < value) return this.#behind();
    if (key === value) return this.#at(inKind);
    if (this.#bySeq && seq !== null && this.#state !== 'starting') {
      const seconds = Math.max(0, timeUs - this.#timeUs) / 1_000_000;
      if (seq - this.#value > jumpAtOnce + jumpPerSecond * seconds) return this.#implausible(timeUs);
      // After a restart, a host may have compacted the numbers directly after the position too.
      const isNext = this.#state === 'following' || (this.#state === 'resuming' && this.#sawAt);
      if (isNext) this.leftOut = seq - this.#value - 1;
    }
    return this.#ahead({ seq, timeUs, creates });
  }

  /**
   * Returns true if an event has a number that was read before, but is later than everything that was read. A Jetstream
   * that is killed loses its last events, reads them again from its relay, and gives them new times and numbers.
   */
  #isReused(seq: number, timeUs: number): boolean {
    if (!this.#bySeq || timeUs <= this.#timeUs) return false;
    if (this.#state === 'reusing') return seq <= this.#value + reuseMargin;
    return this.#state === 'resuming' && seq <= this.#value;
  }

  /**
   * Skips the events up to the number of the position: the host reads the events that it lost again, before any other,
   * and most of them were counted.
   */
  #reuse(seq: number, timeUs: number): Verdict {
    if (this.#value - seq > maxReused || timeUs - this.#timeUs > maxReusedUs) return 'renumbered';
    this.#skippedUs = timeUs;
    if (this.#state === 'reusing') return 'skipped';
    this.#state = 'reusing';
    return 'reused';
  }

  #implausible(timeUs: number): Verdict {
    this.miss(timeUs);
    return 'implausible';
  }

  #behind(): Verdict {
    if (this.#state === 'resuming' || this.#state === 'reusing') {
      this.#sawBefore = true;
      return 'skipped';
    }
    // The host went back in the stream, so assume that the next events at the position have already been counted.
    this.#rewound = true;
    this.#owed = this.#counted;
    return 'late_or_repeat';
  }

  #at(inKind: boolean): Verdict {
    if (this.#state === 'starting') return 'late_or_repeat';
    this.#sawAt = true;
    if (!inKind || this.#counted >= allAtValue) return 'skipped';
    // A number belongs to one event, so an event with the number of the position has already been counted.
    if (this.#bySeq) return this.#state === 'following' ? 'late_or_repeat' : 'skipped';
    if ((this.#state === 'resuming' || this.#rewound) && this.#owed > 0) {
      this.#owed -= 1;
      return this.#rewound ? 'late_or_repeat' : 'skipped';
    }
    this.#counted += 1;
    this.continuous = true;
    return 'counted';
  }

  #ahead({ seq, timeUs, creates }: Ahead): Verdict {
    if (this.#state === 'starting') return this.#start(seq, timeUs, creates);
    if (this.#state === 'following') this.continuous = true;
    else {
      // A reader requests the event at its position again. Without it, the events after it may not be the next ones.
      const isNext = this.#sawAt || (this.#counted === 0 && this.#sawBefore);
      this.continuous = this.#state === 'resuming' && this.#skippedUs === 0 && isNext;
      // A position at which nothing was counted is only a time, which may lie within a download.
      const isCertain = this.#state === 'resuming' && this.#counted > 0;
      if (!isCertain && this.#isDoubtful(timeUs, creates)) return 'skipped';
      this.#state = 'following';
    }
    this.#move(seq, timeUs, 1);
    return 'counted';
  }

  /**
   * Returns true if an event may be a row of a download, or has the time of a skipped event: the events of a commit
   * share one time, and no part of it may count as observed.
   */
  #isDoubtful(timeUs: number, creates: boolean): boolean {
    if (!creates) this.#proven = true;
    if (this.#proven && timeUs > this.#skippedUs) return false;
    this.#skippedUs = Math.max(this.#skippedUs, timeUs);
    return true;
  }

  #start(seq: number | null, timeUs: number, creates: boolean): Verdict {
    if (this.#isReplay && this.#isDoubtful(timeUs, creates)) return 'skipped';
    this.#state = 'following';
    this.continuous = false;
    this.#move(seq, timeUs, this.#leaveFirst ? allAtValue : 1);
    return this.#leaveFirst ? 'skipped' : 'counted';
  }

  #move(seq: number | null, timeUs: number, counted: number): void {
    this.#has = true;
    this.#bySeq = seq !== null;
    this.#value = seq ?? timeUs;
    this.#counted = counted;
    if (timeUs > this.#timeUs) this.#timeUs = timeUs;
    this.#rewound = false;
  }

  #set({ kind, value, counted, timeUs }: Position): void {
    this.#has = true;
    this.#bySeq = kind === 'seq';
    this.#value = value;
    this.#counted = counted;
    this.#timeUs = timeUs;
    this.#rowsUs = Number.POSITIVE_INFINITY;
  }
}

/** An event after the position. */
interface Ahead {
  readonly seq: number | null;
  readonly timeUs: number;
  readonly creates: boolean;
}

/** Returns true if an event is after `end`, the last event that this reader counts. */
function isBeyond(end: End, seq: number | null, timeUs: number): boolean {
  if (end.seq === null || seq === null) return timeUs > end.timeUs;
  return seq > end.seq || timeUs > end.timeUs + endToleranceUs;
}
