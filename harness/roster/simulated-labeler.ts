import type { Dice } from '../../sim/random.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { maxLateness } from '../../src/labels/ingest/admission.ts';
import type { KnownLabeler } from '../../src/labels/roster/known-labeler.ts';
import type { ReadingEvent } from '../../src/labels/state/reading-events.ts';
import { untracked } from '../../src/labels/state/reading-state.ts';
import { Tracker } from '../../src/labels/state/tracker.ts';
import { liveTimings } from '../../src/labels/stream/open-stream.ts';
import { createBackoff } from '../../src/network/websocket/backoff.ts';
import { addGap, withoutGap } from '../../src/store/gaps.ts';
import type { GapChange, StoredGap } from '../../src/store/port.ts';
import { micros } from '../../src/store/time.ts';
import { fraction, type Life } from './labeler-life.ts';

const never = Number.POSITIVE_INFINITY;

/** Creates the event for a source that has been read completely from `reached` to `now`. */
function caughtUp(reached: Micros, now: Micros): ReadingEvent {
  return { kind: 'caught_up', now, reached, before: { since: reached, target: reached } };
}

/**
 * A labeler and its reader on a simulated clock, without sockets. The instrument's code determines the states, the
 * delays between attempts and the gaps; the outages determine which attempts succeed.
 */
export class SimulatedLabeler {
  readonly known: KnownLabeler;
  readonly life: Life;
  /** Gaps that the store would contain. */
  gaps: readonly StoredGap[] = [];
  /** Times of read attempts while the labeler was not enrolled. */
  readonly lateAttempts: number[] = [];
  readonly #start: number;
  readonly #backoff;
  /** Index of the next or current outage. */
  #outage = 0;
  /** Time of the next read attempt, or `never` while the labeler is being read. */
  #attemptAt = never;

  /** Creates a labeler that was read from `epoch` to `start` without a gap. */
  constructor(did: string, life: Life, { epoch, start }: { epoch: number; start: number }, dice: Dice) {
    this.life = life;
    this.#start = start;
    const tracker = new Tracker(did, untracked(micros(epoch)));
    tracker.apply({ kind: 'asked', now: micros(epoch) });
    tracker.apply({ kind: 'answered', now: micros(epoch), dated: 1, undated: 0, live: false });
    tracker.apply(caughtUp(micros(epoch), micros(start)));
    this.known = {
      ...{ did, origin: 'discovered', provenance: new Set(['relay relay.example']), resolutionStatus: 'labeler' },
      ...{ endpoint: `https://${did.slice('did:plc:'.length)}.example`, pds: null, handle: null },
      ...{ handleConfirmed: false, denied: false, tracker },
    };
    const random = () => fraction(dice);
    const { firstRetryMs: firstMs, maxRetryMs: capMs } = liveTimings;
    this.#backoff = createBackoff({ firstMs, capMs, random });
  }

  /** Advances the clock. A labeler that is being read at that time emits a label. */
  advance(until: number): void {
    for (;;) {
      const breaksAt = this.#attemptAt === never ? this.#outageAfter(this.#lastLive).from : never;
      const next = Math.min(breaksAt, this.#attemptAt);
      if (next > until) break;
      if (next === this.#attemptAt) this.#attempt(Math.floor(next));
      else {
        this.#live(next);
        this.#attemptAt = next + 1_000 * this.#backoff.next();
      }
    }
    if (this.#attemptAt === never) this.#live(until);
  }

  /** Records or withdraws a gap, as the instrument does. */
  record(change: GapChange | null): void {
    if (change?.kind === 'record') this.gaps = addGap(this.gaps, change.gap);
    if (change?.kind === 'withdraw') this.gaps = withoutGap(this.gaps, change.gap);
  }

  get #lastLive(): number {
    return this.known.tracker.tracked.lastAnswered ?? this.#start;
  }

  /** Returns the first outage that ends after `at`, converted to the clock of the simulation. */
  #outageAfter(at: number): { readonly from: number; readonly until: number } {
    for (;;) {
      const outage = this.life.outages[this.#outage];
      if (!outage) return { from: never, until: never };
      const [from, until] = [this.#start + outage.from, this.#start + outage.until];
      if (until > at) return { from, until };
      this.#outage += 1;
    }
  }

  #attempt(at: number): void {
    const { tracker } = this.known;
    const now = micros(at);
    if (!tracker.enrolled(now)) this.lateAttempts.push(at);
    tracker.apply({ kind: 'asked', now });
    const { from, until } = this.#outageAfter(at);
    if (at < from) {
      this.record(tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: false }));
      this.record(tracker.apply(caughtUp(micros(now - maxLateness), now)));
      this.#backoff.reset();
      this.#attemptAt = never;
      return;
    }
    const isRefused = this.life.kind === 'refusing' && until === never;
    this.record(tracker.apply({ kind: 'failed', now, fault: isRefused ? 'refusing' : 'failed' }));
    const waitMs = tracker.enrolled(now) ? 100 + this.#backoff.next() : liveTimings.notEnrolledMs;
    this.#attemptAt = at + 1_000 * waitMs;
  }

  #live(at: number): void {
    const now = micros(Math.floor(at));
    this.known.tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: true });
  }
}
