import type { Coverage, CoverageSources } from '../../contract/labels.ts';
import { formatTimestamp, type Micros } from '../../contract/timestamp.ts';
import type { CoverageStatus } from '../../contract/vocabulary.ts';
import { isSilent, silentGaps } from '../../store/coverage-rule.ts';
import type { RefusalCount, StoredGap } from '../../store/port.ts';
import { day, type Interval } from '../../store/time.ts';
import type { SourceState } from '../state/reading-state.ts';
import { unionGaps } from './gaps.ts';

/** An enrolled source, with the properties that the coverage counts. */
export interface EnrolledSource {
  readonly did: string;
  readonly origin: 'seeded' | 'discovered';
  readonly state: SourceState;
}

/** Input for computing the coverage. */
export interface CoverageInputs {
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
export function timestamp(at: Micros): string {
  return formatTimestamp(Math.floor(at / 1000));
}
