import { type AccountCoverage, type LabelerCoverage, maxGapsPerLabeler } from '../../contract/account.ts';
import type { Gap } from '../../contract/labels.ts';
import { maxGaps } from '../../contract/limits.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { CoverageStatus } from '../../contract/vocabulary.ts';
import { departureGap, unobservedEnd, unobservedGaps } from '../../store/coverage-rule.ts';
import type { Epoch, Frontier, StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { AccountStore } from './account-store.ts';
import { readingTime } from './query.ts';

/** Source state of a labeler whose labels are read without omissions since a known position. */
const established = 'established';

/** Data for computing the coverage of an interval. */
interface CoverageInputs {
  readonly interval: Interval;
  /** Start of the requested interval before it was clipped to the window. */
  readonly askedStart: Micros;
  /** DID in the labeler filter, or undefined if there is no such filter. */
  readonly labeler: string | undefined;
  /** Time for which the coverage is computed: the creation time of the export. */
  readonly now: Micros;
  readonly epoch: Epoch;
  readonly frontier: Frontier;
  readonly gaps: readonly StoredGap[];
  readonly roster: readonly RosterRow[];
  /** False if the labeler in the filter was never read. */
  readonly wasRead: boolean;
}

/** Reads the data for the coverage of an interval and computes the coverage. */
export async function readCoverage(
  store: AccountStore,
  asked: Pick<CoverageInputs, 'interval' | 'askedStart' | 'labeler' | 'now'>,
): Promise<AccountCoverage> {
  const [epoch, frontier, gaps, roster] = [
    await store.epoch(),
    await store.frontier(),
    await store.gaps({ start: asked.interval.start, end: asked.interval.end }),
    await store.roster(),
  ];
  const { labeler } = asked;
  const wasRead =
    labeler === undefined ||
    roster.some(({ did, lastAnswered }) => did === labeler && lastAnswered !== null) ||
    (await store.positions()).some(({ source }) => source === labeler);
  return coverageOf({ ...asked, now: readingTime(frontier, asked.now), epoch, frontier, gaps, roster, wasRead });
}

/**
 * Computes the coverage of an interval. If no page was accepted for longer than the tolerance, or since the start of the
 * interval, the time since the last page is a gap and the status is unknown. A labeler that is no longer enrolled has a gap that begins at the
 * end of its complete data.
 */
export function coverageOf(inputs: CoverageInputs): AccountCoverage {
  const { interval, askedStart, now, epoch, frontier, roster } = inputs;
  const silence = unobservedGaps(frontier, { interval, now }, inputs.gaps);
  const departures = roster.flatMap((row) => departureGap(row, interval) ?? []);
  const bySource = Map.groupBy([...inputs.gaps, ...silence, ...departures], ({ source }) => source);
  const own = atMost(bySource.get(null) ?? [], maxGaps);
  const labelers = labelersOf(inputs, bySource);
  const warmup =
    askedStart < epoch.startedAt
      ? wire({ start: askedStart, end: micros(Math.min(epoch.startedAt, interval.end)), reason: 'not_observed' })
      : null;
  return {
    status:
      unobservedEnd(frontier, interval, now) === null ? statusOf(labelers, own.length > 0, warmup !== null) : 'unknown',
    observed_through: frontier.observedThrough === null ? null : formatMicros(frontier.observedThrough),
    covered_through:
      frontier.observedThrough === null ? null : formatMicros(micros(Math.min(frontier.observedThrough, interval.end))),
    warmup,
    gaps: own.map(wire),
    labelers,
  };
}

/**
 * Returns the coverage of the enrolled labelers and of other labelers with a gap in the interval. With a labeler
 * filter, returns only the coverage of that labeler. If it was never read, the whole interval is its gap.
 */
function labelersOf(
  { roster, labeler, interval, wasRead }: CoverageInputs,
  bySource: ReadonlyMap<string | null, readonly StoredGap[]>,
): LabelerCoverage[] {
  const known = roster
    .filter(({ did, enrolled }) => (labeler === undefined ? enrolled || bySource.has(did) : did === labeler))
    .map(({ did, enrolled, state }) => ({ did, state: enrolled ? state : 'not_enrolled' }));
  const wanted = labeler !== undefined && known.length === 0 ? [{ did: labeler, state: 'not_known' }] : known;
  return wanted.map(({ did, state }) => ({
    labeler_did: did,
    state,
    gaps:
      did === labeler && !wasRead
        ? [wire({ ...interval, reason: 'not_observed' })]
        : atMost(bySource.get(did) ?? [], maxGapsPerLabeler).map(wire),
  }));
}

function statusOf(labelers: readonly LabelerCoverage[], interrupted: boolean, warmup: boolean): CoverageStatus {
  // Without labelers the coverage is unknown.
  if (labelers.length === 0 || labelers.some(({ state }) => state !== established)) return 'unknown';
  if (warmup) return 'warming_up';
  return interrupted || labelers.some(({ gaps }) => gaps.length > 0) ? 'gapped' : 'no_recorded_gaps';
}

type Stretch = Pick<StoredGap, 'start' | 'end' | 'reason'>;

/** Merges the closest gaps until at most `limit` remain. This may overstate missed time but never understates it. */
export function atMost(gaps: readonly Stretch[], limit: number): Stretch[] {
  const sorted = gaps.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.length <= limit) return sorted;
  let through = Number.NEGATIVE_INFINITY;
  const breaks = sorted.map(({ start, end }, index) => {
    const before = start - through;
    through = Math.max(through, end);
    return { index, before };
  });
  const kept = breaks.toSorted((a, b) => b.before - a.before).slice(0, limit);
  const starts = kept.map(({ index }) => index).toSorted((a, b) => a - b);
  return starts.map((from, nth) => joined(sorted.slice(from, starts[nth + 1])));
}

function joined(gaps: readonly Stretch[]): Stretch {
  const reasons = new Set(gaps.map(({ reason }) => reason));
  const [reason] = reasons;
  return {
    start: micros(Math.min(...gaps.map(({ start }) => start))),
    end: micros(Math.max(...gaps.map(({ end }) => end))),
    reason: reasons.size === 1 && reason !== undefined ? reason : 'unknown',
  };
}

function wire({ start, end, reason }: Stretch): Gap {
  return { start: formatMicros(start), end: formatMicros(end), reason };
}
