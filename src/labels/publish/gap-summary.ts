import type { StoredGap } from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';
import { FinestGaps, GappedTimes, type Missed } from './gaps.ts';
import { Turns } from './turns.ts';

/** Summary of the gaps of all labelers, for the overview. */
export interface GapSummary {
  /** Gaps of the instrument, and the gaps of the counted labelers, joined with the smallest tolerance. */
  readonly gaps: readonly StoredGap[];
  /** Missed time of each counted labeler that has gaps. */
  readonly times: ReadonlyMap<string, Missed>;
  /** Labelers that this instrument paused in the last week, so that their counts are incomplete. */
  readonly cutShort: ReadonlySet<string>;
}

/** Input for summarizing gaps. */
export interface SummaryInputs {
  /** Gaps that were read from the store. */
  readonly gaps: readonly StoredGap[];
  /** One gap for each labeler that left the enrolment, from its last complete time until now. */
  readonly departures: readonly StoredGap[];
  /** Labelers whose gaps count. */
  readonly counted: ReadonlySet<string>;
  /** The published window. */
  readonly window: Interval;
  /** Part of the window in which the instrument observed. */
  readonly observed: Interval;
  /** The last seven days. */
  readonly week: Interval;
}

/** Number of gaps that are processed between two checks of the turn. */
const gapsAtOnce = 128;

/** Summarizes gaps. Thousands of labelers have tens of thousands of gaps, so the work yields to the event loop. */
export async function summarizeGaps(inputs: SummaryInputs): Promise<GapSummary> {
  const { counted, observed, week } = inputs;
  const turns = new Turns();
  const [instrument, union, times] = [[] as StoredGap[], new FinestGaps(observed), new GappedTimes(inputs.window)];
  const cutShort = new Set<string>();
  let passed = 0;
  for (const gap of inOrder(inputs.gaps, inputs.departures)) {
    passed += 1;
    if (passed % gapsAtOnce === 0 && turns.isOver) await turns.next();
    const { source, reason, start, end } = gap;
    if (source === null) {
      instrument.push(gap);
      continue;
    }
    if (reason === 'ingest_paused' && start < week.end && end > week.start) cutShort.add(source);
    if (!counted.has(source)) continue;
    union.add(gap);
    times.add(gap);
  }
  return { gaps: [...instrument, ...union.gaps], times: times.bySource, cutShort };
}

/** Yields the gaps of both lists in the order of their starts. */
function* inOrder(first: readonly StoredGap[], second: readonly StoredGap[]): Generator<StoredGap> {
  const [left, right] = [sorted(first), sorted(second)];
  let [l, r] = [0, 0];
  for (;;) {
    const [one, other] = [left[l], right[r]];
    if (one !== undefined && (other === undefined || one.start <= other.start)) {
      l += 1;
      yield one;
    } else if (other !== undefined) {
      r += 1;
      yield other;
    } else return;
  }
}

/** Returns the gaps sorted by start. Gaps that were read from the store are already sorted. */
function sorted(gaps: readonly StoredGap[]): readonly StoredGap[] {
  // A loop is faster than a callback per gap, and this check does not yield to the event loop.
  let last = Number.NEGATIVE_INFINITY;
  for (const { start } of gaps) {
    if (start < last) return gaps.toSorted((a, b) => a.start - b.start);
    last = start;
  }
  return gaps;
}
