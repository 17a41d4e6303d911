/**
 * A reader's position in one host's stream: everything up to `value` is counted, and `counted` of the events with
 * exactly `value`, because one `time_us` may stamp a whole batch.
 */
export interface Position {
  /** `seq` where the host's frames carry their own number, else `time`. */
  readonly kind: 'time' | 'seq';
  readonly value: number;
  readonly counted: number;
  /** The latest `time_us` reached, microseconds. */
  readonly timeUs: number;
}

/** In place of a number of events at a value: all of them are another reader's. */
export const allAtValue = 2 ** 31;

/** Every host treats larger cursors as times in microseconds, so no event has such a number. */
const firstTimeCursor = 1_000_000_000_000_000;
/** Maximum jump of a number: hosts omit numbers after a crash, on compaction, and for hidden rows. */
const jumpAtOnce = 10_000_000;
/** Additional jump per second of the stream's clock: far more than the events of any network. */
const jumpPerSecond = 100_000;
/** An event this far past the last one of a backfill is not part of it, whatever its number. Microseconds. */
const endToleranceUs = 5_000_000;

/** Returns true if a stored position can be resumed: no host accepts a larger value as a number. */
export function isUsable({ kind, value }: Position): boolean {
  return kind === 'time' || value < firstTimeCursor;
}

/** The event that another reader counts from: this one counts up to it and with it. */
export interface End {
  readonly seq: number | null;
  readonly timeUs: number;
}

/**
 * `counted`: it is new. `skipped`: the host was asked for it, and it is already counted. `late_or_repeat`: it is before
 * the position and was not requested; counting it might count it twice. `beyond_end`: another reader counts it.
 * `implausible`: its number cannot follow the position, and does not become the position. `renumbered`: the host numbers its events from another start.
 */
export type Verdict = 'counted' | 'skipped' | 'late_or_repeat' | 'beyond_end' | 'implausible' | 'renumbered';

/**
 * Decides for each event of a connection whether it is new, and moves the position. Hosts resume inclusively, may
 * replay from long before the cursor, clamp it, ignore it, or repeat themselves; only its position distinguishes an
 * event.
 */
export class Progress {
  #has = false;
  #bySeq = false;
  #value = 0;
  #counted = 0;
  #timeUs = 0;
  #state: 'resuming' | 'starting' | 'following' = 'starting';
  #leaveFirst = false;
  /** The number that the host was asked for; nothing it sends may lie before. */
  #asked = 0;
  /** Events at the position that are yet to be passed over after the host went back. */
  #owed = 0;
  #rewound = false;
  #sawAt = false;
  #sawBefore = false;
  /** An event ahead of the position was passed by uncounted. */
  #missed = false;
  readonly #end: End | null;
  /** After `counted`: whether all that the host sent since the position before it has been seen. */
  continuous = false;
  /** After `counted`: how many numbers the host left out before it. */
  leftOut = 0;

  constructor(position: Position | null, end: End | null = null) {
    this.#end = end;
    if (position) this.#set(position);
  }

  /** The position; null before the first event. */
  get position(): Position | null {
    if (!this.#has) return null;
    const kind = this.#bySeq ? 'seq' : 'time';
    return { kind, value: this.#value, counted: this.#counted, timeUs: this.#timeUs };
  }

  /** True if it has a position. */
  get started(): boolean {
    return this.#has;
  }

  /** The latest `time_us` reached, microseconds; 0 before the first event. */
  get timeUs(): number {
    return this.#timeUs;
  }

  /** True if the position is a number of the host, which orders events regardless of their times. */
  get numbered(): boolean {
    return this.#has && this.#bySeq;
  }

  /** True if events before the position are still expected. */
  get resuming(): boolean {
    return this.#state === 'resuming';
  }

  /** A connection begins that was asked to resume at the position, or before it: at the number `asked`. */
  resume(asked = 0): void {
    this.#state = 'resuming';
    this.#asked = asked;
    this.#owed = this.#counted;
    this.#rewound = false;
    this.#sawAt = false;
    this.#sawBefore = false;
  }

  /** A connection begins that was asked for what comes now; `leaveFirst`: its first event is another reader's last. */
  goLive(leaveFirst: boolean): void {
    this.#state = 'starting';
    this.#leaveFirst = leaveFirst;
    this.#rewound = false;
  }

  /** Goes on from the time of the position: its number is of no use any more. */
  forgetNumber(): void {
    if (!this.numbered) return;
    this.#bySeq = false;
    this.#value = this.#timeUs;
    this.#counted = allAtValue;
  }

  /** Gives the position up: it was wrong, and the next event starts a new one. */
  reset(): void {
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

  /** The last event does not continue the earlier ones. */
  breakOff(): void {
    this.continuous = false;
  }

  /** An event cannot be counted for its time: where it lies ahead, what comes next does not follow on the position. */
  miss(timeUs: number): void {
    if (timeUs > this.#timeUs) this.#missed = true;
  }

  /** A row that is no event moves the number, and leaves the time. Nothing begins with one. */
  pass(seq: number): Verdict {
    if (!this.numbered || this.#state === 'starting') return 'skipped';
    return this.#judge(seq, this.#timeUs);
  }

  take(seq: number | null, timeUs: number): Verdict {
    const verdict = this.#judge(seq, timeUs);
    if (verdict === 'counted' && this.#missed) {
      this.continuous = false;
      this.#missed = false;
    }
    return verdict;
  }

  #judge(seq: number | null, timeUs: number): Verdict {
    this.leftOut = 0;
    if (seq !== null && seq >= firstTimeCursor) return this.#implausible(timeUs);
    if (this.#end !== null && isBeyond(this.#end, seq, timeUs)) return 'beyond_end';
    if (!this.#has) return this.#start(seq, timeUs);
    const inKind = !this.#bySeq || seq !== null;
    const key = this.#bySeq && seq !== null ? seq : timeUs;
    const value = inKind ? this.#value : this.#timeUs;
    if (key < value) return this.#isRenumbered(seq, timeUs) ? 'renumbered' : this.#behind();
    if (key === value) return this.#at(inKind);
    if (this.#bySeq && seq !== null && this.#state !== 'starting') {
      const seconds = Math.max(0, timeUs - this.#timeUs) / 1_000_000;
      if (seq - this.#value > jumpAtOnce + jumpPerSecond * seconds) return this.#implausible(timeUs);
      if (this.#state === 'following') this.leftOut = seq - this.#value - 1;
    }
    return this.#ahead(seq, timeUs, key);
  }

  /** Returns true if a host sent a smaller number than the requested one with a later time: its numbers started again. */
  #isRenumbered(seq: number | null, timeUs: number): boolean {
    return this.#state === 'resuming' && this.#bySeq && seq !== null && seq < this.#asked && timeUs > this.#timeUs;
  }

  #implausible(timeUs: number): Verdict {
    this.miss(timeUs);
    return 'implausible';
  }

  #behind(): Verdict {
    if (this.#state === 'resuming') {
      this.#sawBefore = true;
      return 'skipped';
    }
    // The host went back: what follows at the position is, as far as can be known, the same as before.
    this.#rewound = true;
    this.#owed = this.#counted;
    return 'late_or_repeat';
  }

  #at(inKind: boolean): Verdict {
    if (this.#state === 'starting') return 'late_or_repeat';
    this.#sawAt = true;
    if (!inKind || this.#counted >= allAtValue) return 'skipped';
    // A number is one event's: at its number an event can only be the one that was counted.
    if (this.#bySeq) return this.#state === 'resuming' ? 'skipped' : 'late_or_repeat';
    if ((this.#state === 'resuming' || this.#rewound) && this.#owed > 0) {
      this.#owed -= 1;
      return this.#rewound ? 'late_or_repeat' : 'skipped';
    }
    this.#counted += 1;
    this.continuous = true;
    return 'counted';
  }

  #ahead(seq: number | null, timeUs: number, key: number): Verdict {
    if (this.#state === 'starting') return this.#start(seq, timeUs);
    if (this.#state === 'resuming') {
      const passedOver = this.#counted === 0 ? this.#sawBefore : this.#bySeq && key === this.#value + 1;
      this.continuous = this.#sawAt || passedOver;
      this.#state = 'following';
    } else this.continuous = true;
    this.#move(seq, timeUs, 1);
    return 'counted';
  }

  #start(seq: number | null, timeUs: number): Verdict {
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
  }
}

/** Returns true if an event is past the last one that this reader counts. */
function isBeyond(end: End, seq: number | null, timeUs: number): boolean {
  if (end.seq === null || seq === null) return timeUs > end.timeUs;
  return seq > end.seq || timeUs > end.timeUs + endToleranceUs;
}
