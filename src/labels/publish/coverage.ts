import type { Coverage, CoverageSources } from '../../contract/labels.ts';
import { maxGaps } from '../../contract/limits.ts';
import { formatTimestamp, type Micros } from '../../contract/timestamp.ts';
import { type CoverageStatus, type GapReason, gapReasons } from '../../contract/vocabulary.ts';
import { isSilent, silentGaps } from '../../store/gaps.ts';
import type { RefusalCount, StoredGap } from '../../store/port.ts';
import { day, type Interval, micros, minute } from '../../store/time.ts';
import { Turns } from '../clock/clock.ts';
import type { SourceState } from '../state/reading-state.ts';

/** An enrolled source, with the properties that the coverage counts. */
export interface EnrolledSource {
  readonly did: string;
  readonly origin: 'seeded' | 'discovered';
  readonly state: SourceState;
  /** True if the source ever responded. Before its first response, a source has no stored gap. */
  readonly answered: boolean;
}

/** Input for computing the coverage. */
interface CoverageInputs {
  readonly now: Micros;
  readonly windowDays: number;
  readonly startedAt: Micros;
  /** Local clock at the last accepted page, in microseconds, or null before the first page. */
  readonly observedThrough: Micros | null;
  readonly gaps: readonly StoredGap[];
  readonly sources: readonly EnrolledSource[];
  readonly refusals: readonly RefusalCount[];
}

/** Returns the window of `windowDays` days that ends at `now`. */
export function windowOf(now: Micros, windowDays: number): Interval {
  return { start: (now - windowDays * day) as Micros, end: now };
}

/**
 * Computes the artifact's `coverage`. If the time after the last accepted page exceeds the tolerance, it counts as a
 * gap, and the status is unknown.
 */
export function coverageOf(inputs: CoverageInputs): Coverage {
  const { now, windowDays, startedAt, observedThrough, gaps, sources, refusals } = inputs;
  const window = windowOf(now, windowDays);
  const frontier = { observedThrough, floor: startedAt };
  const union = unionGaps([...gaps, ...silentGaps(frontier, now, gaps)], {
    start: Math.max(window.start, startedAt) as Micros,
    end: now,
  });
  const listed = union.overflow ? [{ ...window, reason: 'unknown' as const }] : union.gaps;
  const warmup = window.start < startedAt;
  const from = Math.max(startedAt, window.start);
  return {
    status: isSilent(frontier, now) ? 'unknown' : statusOf(sources, warmup, listed.length > 0, union.overflow),
    observed_days: Math.max(0, Math.min(windowDays, Math.floor((now - from) / day))),
    observed_through: observedThrough === null ? null : timestamp(observedThrough),
    warmup: warmup ? { start: timestamp(window.start), end: timestamp(startedAt), reason: 'not_observed' } : null,
    gaps: listed.map(({ start, end, reason }) => ({ start: timestamp(start), end: timestamp(end), reason })),
    gap_overflow: union.overflow,
    sources: countSources(sources, refusals),
  };
}

function statusOf(
  sources: readonly EnrolledSource[],
  warmup: boolean,
  gapped: boolean,
  overflow: boolean,
): CoverageStatus {
  // The status is unknown if there is no source.
  const known = sources.length > 0 && sources.every(({ state }) => state === 'established');
  if (!known || overflow) return 'unknown';
  if (warmup) return 'warming_up';
  return gapped ? 'gapped' : 'no_recorded_gaps';
}

/**
 * Returns the number of sources by state and by origin, and the number of refusals by reason. The numbers by state sum
 * to `enrolled`, and so do the numbers by origin.
 */
export function countSources(
  sources: readonly EnrolledSource[],
  refusals: readonly RefusalCount[],
): CoverageSources & { seeded: number; discovered: number; future_skipped: number } {
  const inState = (state: SourceState): number => sources.filter((source) => source.state === state).length;
  const skipped = (reason: RefusalCount['reason']): number =>
    refusals.reduce((sum, refusal) => sum + (refusal.reason === reason ? refusal.count : 0), 0);
  return {
    enrolled: sources.length,
    seeded: sources.filter(({ origin }) => origin === 'seeded').length,
    discovered: sources.filter(({ origin }) => origin === 'discovered').length,
    unstarted: inState('unstarted'),
    probing: inState('probing'),
    refused: inState('refused'),
    established: inState('established'),
    pre_epoch_skipped: skipped('pre_epoch'),
    undated_skipped: skipped('undated'),
    late_skipped: skipped('late'),
    future_skipped: skipped('future'),
    cursor_order_unverified: inState('cursor_order_unverified'),
    undated_only: inState('undated_only'),
    provider_rejects: inState('provider_rejects'),
    unavailable: inState('unavailable'),
  };
}

/** Formats an instant for the artifact, truncated to milliseconds. */
export function timestamp(at: number): string {
  return formatTimestamp(Math.floor(at / 1000));
}

/** Minimum tolerance for joining gaps, in whole minutes. A wider tolerance is used only if there are too many gaps. */
const minToleranceMinutes = 1;

/** Maximum tolerance for joining gaps, in whole minutes. */
export const maxToleranceMinutes = 6 * 60;

/** An interval that at least one source, or the whole instrument, did not observe. */
interface UnionGap extends Interval {
  readonly reason: GapReason;
}

/** Gaps of a window in the form in which they are published. */
interface GapUnion {
  /** Gaps sorted by start, disjoint per reason, inside the window. */
  readonly gaps: readonly UnionGap[];
  /**
   * True if even the widest tolerance gives too many gaps: `gaps` then consists of one `unknown` gap that spans the
   * whole window.
   */
  readonly overflow: boolean;
}

/**
 * Returns the union of gaps of all sources and the interruptions of the instrument, per reason. Gaps of one reason that
 * are at most the tolerance apart are joined, which overstates the missed time but never hides it.
 */
export function unionGaps(stored: readonly StoredGap[], window: Interval, limit = maxGaps): GapUnion {
  // Join the gaps with the smallest tolerance first, which leaves few gaps even for thousands of labelers. Joining
  // these gaps with a wider tolerance gives the same result as joining the original gaps with that tolerance.
  const finest = coalesced(clippedByReason(stored, window), minToleranceMinutes);
  const joined = gapReasons.map((reason) => finest.filter((gap) => gap.reason === reason));
  let [low, high] = [minToleranceMinutes, maxToleranceMinutes];
  if (coalesced(joined, high).length > limit) {
    return { gaps: [{ ...window, reason: 'unknown' }], overflow: true };
  }
  // Find the smallest sufficient tolerance by binary search, because a wider tolerance never gives more gaps.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (coalesced(joined, middle).length > limit) low = middle + 1;
    else high = middle;
  }
  return { gaps: coalesced(joined, low), overflow: false };
}

/** Returns the parts of gaps in the window, by reason, sorted by start. */
function clippedByReason(gaps: readonly UnionGap[], window: Interval): readonly UnionGap[][] {
  const byReason = new Map<GapReason, UnionGap[]>(gapReasons.map((reason) => [reason, []]));
  for (const { start, end, reason } of gaps) {
    if (start >= end || start >= window.end || end <= window.start) continue;
    const from = micros(Math.max(start, window.start));
    byReason.get(reason)?.push({ start: from, end: micros(Math.min(end, window.end)), reason });
  }
  return [...byReason.values()].map((own) => own.sort((a, b) => a.start - b.start));
}

/** Joins the gaps of each reason, which are sorted by start. */
function coalesced(byReason: readonly (readonly UnionGap[])[], toleranceMinutes: number): UnionGap[] {
  const result: UnionGap[] = [];
  for (const own of byReason) {
    let last: { start: Micros; end: Micros; readonly reason: GapReason } | undefined;
    for (const gap of own) {
      if (last && gap.start - last.end <= toleranceMinutes * minute) last.end = micros(Math.max(last.end, gap.end));
      else {
        last = { ...gap };
        result.push(last);
      }
    }
  }
  return result.sort((a, b) => a.start - b.start || a.end - b.end || (a.reason < b.reason ? -1 : 1));
}

/** Summary of the gaps of all labelers, for the overview. */
interface GapSummary {
  /** Gaps of the instrument, and the gaps of the counted labelers, joined with the smallest tolerance. */
  readonly gaps: readonly StoredGap[];
  /** Missed time of each counted labeler that has gaps. */
  readonly times: ReadonlyMap<string, Missed>;
  /** Labelers that this instrument paused in the last week, so that their counts are incomplete. */
  readonly cutShort: ReadonlySet<string>;
}

/** Input for summarizing gaps. */
interface SummaryInputs {
  /** Gaps that were read from the store. */
  readonly gaps: readonly StoredGap[];
  /** One gap for each labeler that left the enrolment, waits for a reading slot or was evicted, until now. */
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
  for (const gap of inOrder(await sorted(inputs.gaps, turns), await sorted(inputs.departures, turns))) {
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

/** Yields the gaps of both sorted lists in the order of their starts. */
function* inOrder(left: readonly StoredGap[], right: readonly StoredGap[]): Generator<StoredGap> {
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

/** Number of gaps whose order is checked between two checks of the turn. */
const comparedAtOnce = 4_096;

/** Returns the gaps sorted by start. Gaps that were read from the store are already sorted. */
async function sorted(gaps: readonly StoredGap[], turns: Turns): Promise<readonly StoredGap[]> {
  let last = Number.NEGATIVE_INFINITY;
  // A loop is faster than a callback per gap.
  for (let at = 0; at < gaps.length; at += 1) {
    if (at % comparedAtOnce === 0 && turns.isOver) await turns.next();
    const start = gaps[at]?.start ?? last;
    if (start < last) return gaps.toSorted((a, b) => a.start - b.start);
    last = start;
  }
  return gaps;
}

/**
 * Gaps of all labelers in a window, joined with the smallest tolerance. The union has few gaps even if there are
 * thousands of labelers.
 */
class FinestGaps {
  readonly #window: Interval;
  readonly #gaps: StoredGap[] = [];
  readonly #last = new Map<GapReason, { end: Micros }>();

  constructor(window: Interval) {
    this.#window = window;
  }

  /** Joined gaps of the union so far. The source of a joined gap is the source of its first gap. */
  get gaps(): readonly StoredGap[] {
    return this.#gaps;
  }

  /** Adds a gap. Gaps must be added in the order of their starts. */
  add({ source, start, end, reason }: StoredGap): void {
    const window = this.#window;
    if (start >= end || start >= window.end || end <= window.start) return;
    const from = micros(Math.max(start, window.start));
    const until = micros(Math.min(end, window.end));
    const last = this.#last.get(reason);
    if (last && from - last.end <= minToleranceMinutes * minute) {
      last.end = micros(Math.max(last.end, until));
      return;
    }
    const gap: { -readonly [Name in keyof StoredGap]: StoredGap[Name] } = { source, start: from, end: until, reason };
    this.#last.set(reason, gap);
    this.#gaps.push(gap);
  }
}

/** Unread time of a source in a window. */
interface Missed {
  /** Length in microseconds. */
  missed: number;
  /** End of the last gap that is included. */
  through: number;
}

/** Time in a window that the gaps of each source cover. */
class GappedTimes {
  readonly bySource = new Map<string, Missed>();
  readonly #window: Interval;

  constructor(window: Interval) {
    this.#window = window;
  }

  /** Adds a gap. Gaps must be added in the order of their starts. */
  add({ source, start, end }: StoredGap): void {
    const window = this.#window;
    if (source === null || start >= window.end || end <= window.start) return;
    const one = this.bySource.get(source) ?? { missed: 0, through: window.start };
    const until = Math.min(end, window.end);
    one.missed += Math.max(0, until - Math.max(start, one.through));
    one.through = Math.max(one.through, until);
    this.bySource.set(source, one);
  }
}
