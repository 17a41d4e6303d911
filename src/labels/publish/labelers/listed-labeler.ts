import { labelersLimits } from '../../../artifact/labelers.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason, LabelerProblem, LabelerState, ReadingTransport } from '../../../contract/vocabulary.ts';
import { coverageTolerance, uncovered } from '../../../store/gaps.ts';
import type { StoredGap } from '../../../store/port.ts';
import { type Interval, micros } from '../../../store/time.ts';
import { declaresService, departureOf, isEnrolled, type KnownLabeler } from '../../roster/known-labeler.ts';
import type { CapReason } from '../../shares/daily-cap.ts';
import { discoverySources } from '../../shares/telemetry.ts';
import { stateTimes } from '../../state/reading-state.ts';

/** State of a labeler at the time when the store was read. */
export interface ListedLabeler {
  readonly did: string;
  /** Handle that the labeler's document claims. */
  readonly handle: { readonly name: string; readonly confirmed: boolean } | null;
  readonly enrolled: boolean;
  readonly state: LabelerState;
  readonly stateSince: Micros;
  readonly problem: LabelerProblem | null;
  /** Discovery sources that named the labeler. */
  readonly provenance: ReadonlySet<string>;
  readonly readBy: ReadingTransport | null;
  readonly firstAnswered: Micros | null;
  /** True if a label with the labeler's own DID as `src` had a usable date. */
  readonly dated: boolean;
  readonly lastAnswered: Micros | null;
  readonly replacesRows: boolean | null;
  /** Gap since the departure of the labeler, or since it waits for a reading slot; null while the labeler is read. */
  readonly departure: StoredGap | null;
}

/** Data about labelers that is not in the roster. */
export interface ListingContext {
  readonly window: Interval;
  /** Returns true if a labeler waits because the maximum number of labelers is being read. */
  readonly waits: (labeler: KnownLabeler) => boolean;
  /** Returns the reason for which the labels of a labeler are currently not stored, or null if it is not paused. */
  readonly pauseOf: (did: string) => CapReason | null;
  /** Labelers of which labels, or messages that were not understood, were refused in the last 24 hours. */
  readonly refused: ReadonlySet<string>;
  /** Returns the time of a labeler's denial, or null if the time is unknown. */
  readonly deniedSince: (labeler: KnownLabeler) => Micros | null;
}

/**
 * Compares labelers that compete for space in a file. Seeded labelers, and those that first responded at least 7 days
 * before `now` and sent labels of their own, precede all others unless their rank is `last`. Within each of the two
 * groups, the order is by rank, lowest first, and then by first response, earliest first. Anyone can create any number
 * of DIDs, so neither the number of labelers nor their DIDs may displace earlier labelers.
 */
export function byPrecedence(
  now: Micros,
  { rankOf, last }: { readonly rankOf: (labeler: ListedLabeler) => number; readonly last: number },
): (a: ListedLabeler, b: ListedLabeler) => number {
  const ranked = (labeler: ListedLabeler): number => {
    const rank = rankOf(labeler);
    return rank < last && isLongKnown(labeler, now) ? rank - last : rank;
  };
  const first = ({ firstAnswered }: ListedLabeler): number => firstAnswered ?? Number.MAX_SAFE_INTEGER;
  return (a, b) => ranked(a) - ranked(b) || first(a) - first(b) || (a.did < b.did ? -1 : 1);
}

function isLongKnown({ provenance, firstAnswered, dated }: ListedLabeler, now: Micros): boolean {
  return (
    provenance.has('seeds') || (dated && firstAnswered !== null && now - firstAnswered >= stateTimes.establishedAfter)
  );
}

/** Returns the listed properties of a labeler in the roster. */
export function listedLabeler(labeler: KnownLabeler, context: ListingContext): ListedLabeler {
  const { did, denied, tracker } = labeler;
  const now = context.window.end;
  const { tracked, reading } = tracker;
  const waits = context.waits(labeler);
  const enrolled = isEnrolled(labeler, now) && !waits;
  const state = denied ? 'denied' : enrolled ? tracked.state : 'departed';
  const since = denied ? context.deniedSince(labeler) : enrolled ? tracked.stateSince : leftAt(labeler, waits);
  const isRead = state === 'established' || state === 'undated_only';
  return {
    did,
    // Omit the handle of a denied labeler, because its texts may be the reason for the denial.
    handle: denied || labeler.handle === null ? null : { name: labeler.handle, confirmed: labeler.handleConfirmed },
    ...{ enrolled, state },
    stateSince: micros(Math.min(now, since ?? tracked.stateSince)),
    problem: problemOf(labeler, state, { pause: context.pauseOf(did), isRefused: context.refused.has(did) }),
    provenance: labeler.provenance,
    readBy: isRead ? reading.readBy : null,
    firstAnswered: upTo(now, tracked.firstAnswered),
    dated: tracked.dated,
    lastAnswered: upTo(now, tracked.lastAnswered),
    replacesRows: reading.replacesRows,
    departure: enrolled ? null : departureOf(labeler, context.window, waits),
  };
}

/**
 * Limits a time to the end of the window. Labelers respond while the store is read, but the artifact describes the
 * instant at which its window ends.
 */
function upTo(now: Micros, at: Micros | null): Micros | null {
  return at === null ? null : micros(Math.min(now, at));
}

/**
 * Returns the time since which a labeler is departed, or null if it is unknown. The end of a trial, or of 7 days of
 * failures, may be in the future if the labeler departed for another reason, so it counts only if it was the departure.
 */
function leftAt(labeler: KnownLabeler, waits: boolean): Micros | null {
  if (declaresService(labeler) && !waits) return departedSince(labeler);
  const { completeThrough, lastAnswered } = labeler.tracker.tracked;
  return completeThrough ?? lastAnswered;
}

/** Returns true if a labeler is enrolled, or was enrolled in the window. */
export function wasEnrolled(labeler: KnownLabeler, { start, end }: Interval): boolean {
  if (isEnrolled(labeler, end)) return true;
  if (labeler.tracker.tracked.firstAsked === null) return false;
  return (departedSince(labeler) ?? start) > start;
}

/** Returns the latest known time at which a labeler was enrolled, or null if the labeler was never contacted. */
function departedSince(labeler: KnownLabeler): Micros | null {
  const { firstAsked, lastAnswered, failingSince, completeThrough } = labeler.tracker.tracked;
  if (lastAnswered === null) return firstAsked === null ? null : micros(firstAsked + stateTimes.trialPeriod);
  if (declaresService(labeler) && failingSince !== null) return micros(failingSince + stateTimes.unreachableAfter);
  return completeThrough ?? lastAnswered;
}

/** Returns the problem that explains a state, or null if the labeler is read completely. */
function problemOf(
  labeler: KnownLabeler,
  state: LabelerState,
  { pause, isRefused }: { readonly pause: CapReason | null; readonly isRefused: boolean },
): LabelerProblem | null {
  if (state === 'denied') return 'denied_by_operator';
  if (labeler.resolutionStatus === 'no_labeler') return 'no_labeler_service';
  if (labeler.resolutionStatus === 'bad_endpoint') return 'endpoint_not_public';
  if (pause === 'source') return 'share_exceeded';
  // A labeler that a limit of the instrument pauses is not read completely, but it did not cause that.
  if (state === 'established') return isRefused ? 'labels_refused' : pause === null ? null : 'unknown';
  if (state === 'undated_only') return 'labels_undated';
  const problem = labeler.tracker.problem ?? 'unknown';
  return problem === 'unknown' && state === 'cursor_order_unverified' ? 'order_unverified' : problem;
}

/** Interval of the window in which a labeler was not read. */
export interface UnreadGap extends Interval {
  readonly reason: GapReason;
}

/** Input for computing the unread time of a labeler. */
interface UnreadInputs {
  readonly window: Interval;
  /** Start of the retained time. */
  readonly floor: Micros;
  /** Gaps of the labeler and of its departure, and those of the instrument if they are to be part of the result. */
  readonly gaps: readonly StoredGap[];
  /** Gaps of the instrument that are not to be part of the result; none by default. */
  readonly instrument?: readonly StoredGap[];
  readonly firstAnswered: Micros | null;
  readonly lastAnswered: Micros | null;
}

/**
 * Returns the time in the window in which a labeler was not read: its gaps, the time before its first response or
 * before `floor`, and the time since its last response, without the pauses of the instrument, if this time exceeds the
 * tolerance. Sorted by start, disjoint per reason.
 */
export function unreadTime({
  window,
  floor,
  gaps,
  instrument = [],
  firstAnswered,
  lastAnswered,
}: UnreadInputs): UnreadGap[] {
  const begin = micros(Math.min(window.end, Math.max(firstAnswered ?? window.end, floor)));
  const all: UnreadGap[] = [...gaps, { start: window.start, end: begin, reason: 'not_observed' }];
  if (lastAnswered !== null && window.end - lastAnswered > coverageTolerance) {
    const pauses = [...gaps, ...instrument].filter(isInstrumentPause);
    const silent = uncovered({ start: micros(Math.max(lastAnswered, window.start)), end: window.end }, pauses);
    const length = silent.reduce((sum, { start, end }) => sum + end - start, 0);
    if (length > coverageTolerance) all.push(...silent.map((part) => ({ ...part, reason: unavailable })));
  }
  return joinedByReason(all, window);
}

const unavailable: GapReason = 'source_unavailable';

/** Returns true for a gap in which the instrument did not read the labeler. */
function isInstrumentPause({ reason }: StoredGap): boolean {
  return reason === 'ingest_paused' || reason === 'maintenance';
}

/** Returns the parts of gaps in the window, sorted by start. Gaps of one reason that overlap or touch are merged. */
function joinedByReason(gaps: readonly UnreadGap[], window: Interval): UnreadGap[] {
  const clipped: { start: Micros; end: Micros; readonly reason: GapReason }[] = [];
  for (const { start, end, reason } of gaps) {
    if (start >= window.end || end <= window.start) continue;
    clipped.push({ start: micros(Math.max(start, window.start)), end: micros(Math.min(end, window.end)), reason });
  }
  clipped.sort((a, b) => a.start - b.start || a.end - b.end || (a.reason < b.reason ? -1 : 1));
  const last = new Map<GapReason, (typeof clipped)[number]>();
  return clipped.filter((gap) => {
    const before = last.get(gap.reason);
    if (before === undefined || gap.start > before.end) {
      last.set(gap.reason, gap);
      return true;
    }
    before.end = micros(Math.max(before.end, gap.end));
    return false;
  });
}

/** Returns disjoint intervals, sorted by start. Intervals that overlap or touch are merged. */
export function merged(intervals: readonly Interval[]): Interval[] {
  const result: { start: Micros; end: Micros }[] = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && start <= last.end) last.end = micros(Math.max(last.end, end));
    else result.push({ start, end });
  }
  return result;
}

/** Returns the time of each part that intervals cover. The parts are in order and disjoint. */
export function coveredTimes(parts: readonly Interval[], intervals: readonly Interval[]): number[] {
  const gaps = merged(intervals);
  let first = 0;
  return parts.map(({ start, end }) => {
    while ((gaps[first]?.end ?? Number.POSITIVE_INFINITY) <= start) first += 1;
    let covered = 0;
    for (let i = first; i < gaps.length; i += 1) {
      const gap = gaps[i];
      if (gap === undefined || gap.start >= end) break;
      covered += Math.min(gap.end, end) - Math.max(gap.start, start);
    }
    return covered;
  });
}

const precision = 10_000;

/**
 * Returns the share of each part that no interval covers, with four decimals. A share between 0 and 1 is never rounded
 * to 0 or 1, because both are exact statements.
 */
export function readShares(parts: readonly Interval[], unread: readonly Interval[]): number[] {
  return coveredTimes(parts, unread).map((covered, at) => {
    const { start = 0, end = 0 } = parts[at] ?? {};
    const length = end - start;
    if (covered === 0) return 1;
    if (covered >= length) return 0;
    return Math.min(precision - 1, Math.max(1, Math.round((1 - covered / length) * precision))) / precision;
  });
}

/** Gaps as they are published. */
interface ListedGaps {
  readonly gaps: readonly UnreadGap[];
  /** True if gaps were merged, so that the list overstates the unread time. */
  readonly overflow: boolean;
}

/**
 * Returns at most `limit` gaps. Above the limit, merges the gaps with the shortest time between them. Merged gaps of
 * different reasons have the reason `unknown`.
 */
export function listedGaps(gaps: readonly UnreadGap[], limit: number = labelersLimits.gaps): ListedGaps {
  if (gaps.length <= limit) return { gaps, overflow: false };
  const blocks: { start: Micros; end: Micros; reason: GapReason }[] = [];
  for (const { start, end, reason } of gaps) {
    const last = blocks.at(-1);
    if (last && start <= last.end) join(last, { start, end, reason });
    else blocks.push({ start, end, reason });
  }
  // Keep the blocks with the longest times between them separate, and merge the others.
  const between = blocks.slice(1).map(({ start }, i) => ({ at: i + 1, length: start - (blocks[i]?.end ?? start) }));
  const kept = new Set(
    between
      .toSorted((a, b) => b.length - a.length || a.at - b.at)
      .slice(0, limit - 1)
      .map(({ at }) => at),
  );
  const result: { start: Micros; end: Micros; reason: GapReason }[] = [];
  for (const [at, block] of blocks.entries()) {
    const last = result.at(-1);
    if (last && !kept.has(at)) join(last, block);
    else result.push({ ...block });
  }
  return { gaps: result, overflow: true };
}

function join(into: { end: Micros; reason: GapReason }, { end, reason }: UnreadGap): void {
  into.end = micros(Math.max(into.end, end));
  if (into.reason !== reason) into.reason = 'unknown';
}

type DiscoverySource = (typeof discoverySources)[number];

/** Returns the kinds of discovery sources that named a labeler, according to its provenance. */
export function discoverySourcesOf({
  provenance,
}: {
  readonly provenance: ReadonlySet<string>;
}): readonly DiscoverySource[] {
  const names = [...provenance].map((text) => text.replace(/ .*/s, ''));
  return discoverySources.filter((transport) => names.includes(transport));
}

/**
 * Returns the number of labelers for each kind of discovery source. A labeler counts once for each kind of source
 * that named it.
 */
export function countByDiscoverySource(
  labelers: Iterable<Pick<KnownLabeler, 'provenance'>>,
): Readonly<Record<DiscoverySource, number>> {
  const counts = { seeds: 0, relay: 0, jetstream: 0, directory: 0 };
  for (const labeler of labelers) for (const transport of discoverySourcesOf(labeler)) counts[transport] += 1;
  return counts;
}

/**
 * Returns the number of labelers that were named by the directory, but not by a relay, a Jetstream or the seeds file.
 */
export function countDirectoryOnly(labelers: Iterable<Pick<KnownLabeler, 'provenance'>>): number {
  let count = 0;
  for (const labeler of labelers) if (discoverySourcesOf(labeler).join() === 'directory') count += 1;
  return count;
}
