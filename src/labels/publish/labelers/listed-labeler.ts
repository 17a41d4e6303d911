import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelerProblem, LabelerState, ReadingTransport } from '../../../contract/vocabulary.ts';
import type { RefusalReason, StoredGap } from '../../../store/port.ts';
import { type Interval, micros } from '../../../store/time.ts';
import { departureOf, isEnrolled, type KnownLabeler } from '../../roster/known-labeler.ts';
import { establishedAfter, trialPeriod, unreachableAfter } from '../../state/reading-state.ts';

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
  /** Gap since the departure of the labeler, or null while the labeler is enrolled. */
  readonly departure: StoredGap | null;
}

/** Data about labelers that is not in the roster. */
export interface ListingContext {
  readonly window: Interval;
  /** Returns true if a labeler waits because the maximum number of labelers is being read. */
  readonly waits: (labeler: KnownLabeler) => boolean;
  /** Returns true if a labeler is paused because it used up a daily allowance, or because the disk is nearly full. */
  readonly isPaused: (did: string) => boolean;
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
  return provenance.has('seeds') || (dated && firstAnswered !== null && now - firstAnswered >= establishedAfter);
}

/**
 * Reasons that do not depend on the labeler: it may publish labels that are too old for this instrument, or that are not
 * public.
 */
export const harmless: ReadonlySet<RefusalReason> = new Set(['duplicate', 'pre_epoch', 'late', 'space_uri']);

/** Returns the listed properties of a labeler in the roster. */
export function listedLabeler(labeler: KnownLabeler, context: ListingContext): ListedLabeler {
  const { did, denied, tracker } = labeler;
  const now = context.window.end;
  const { tracked, reading } = tracker;
  const enrolled = isEnrolled(labeler, now) && !context.waits(labeler);
  const state = denied ? 'denied' : enrolled ? tracked.state : 'departed';
  const since = denied ? context.deniedSince(labeler) : enrolled ? tracked.stateSince : departedSince(labeler);
  const isRead = state === 'established' || state === 'undated_only';
  return {
    did,
    // Omit the handle of a denied labeler, because its texts may be the reason for the denial.
    handle: denied || labeler.handle === null ? null : { name: labeler.handle, confirmed: labeler.handleConfirmed },
    ...{ enrolled, state },
    stateSince: micros(Math.min(now, since ?? tracked.stateSince)),
    problem: problemOf(labeler, state, { isPaused: context.isPaused(did), isRefused: context.refused.has(did) }),
    provenance: labeler.provenance,
    readBy: isRead ? reading.readBy : null,
    firstAnswered: upTo(now, tracked.firstAnswered),
    dated: tracked.dated,
    lastAnswered: upTo(now, tracked.lastAnswered),
    replacesRows: reading.replacesRows,
    departure: enrolled ? null : departureOf(labeler, context.window),
  };
}

/**
 * Limits a time to the end of the window. Labelers respond while the store is read, but the artifact describes the
 * instant at which its window ends.
 */
function upTo(now: Micros, at: Micros | null): Micros | null {
  return at === null ? null : micros(Math.min(now, at));
}

/** Returns true if a labeler is enrolled, or was enrolled in the window. */
export function wasEnrolled(labeler: KnownLabeler, { start, end }: Interval): boolean {
  if (isEnrolled(labeler, end)) return true;
  if (labeler.tracker.tracked.firstAsked === null) return false;
  return (departedSince(labeler) ?? start) > start;
}

/** Returns the latest known time at which a labeler was enrolled, or null if the labeler was never contacted. */
function departedSince({ resolutionStatus, tracker }: KnownLabeler): Micros | null {
  const { firstAsked, lastAnswered, failingSince, completeThrough } = tracker.tracked;
  if (lastAnswered === null) return firstAsked === null ? null : micros(firstAsked + trialPeriod);
  const hasService = resolutionStatus === 'labeler' || resolutionStatus === 'bad_endpoint';
  if (hasService && failingSince !== null) return micros(failingSince + unreachableAfter);
  return completeThrough ?? lastAnswered;
}

/** Returns the problem that explains a state, or null if the labeler is read completely. */
function problemOf(
  labeler: KnownLabeler,
  state: LabelerState,
  { isPaused, isRefused }: { readonly isPaused: boolean; readonly isRefused: boolean },
): LabelerProblem | null {
  if (state === 'denied') return 'denied_by_operator';
  if (labeler.resolutionStatus === 'no_labeler') return 'no_labeler_service';
  if (labeler.resolutionStatus === 'bad_endpoint') return 'endpoint_not_public';
  if (isPaused) return 'share_exceeded';
  if (state === 'established') return isRefused ? 'labels_refused' : null;
  if (state === 'undated_only') return 'labels_undated';
  const problem = labeler.tracker.problem ?? 'unknown';
  return problem === 'unknown' && state === 'cursor_order_unverified' ? 'order_unverified' : problem;
}
