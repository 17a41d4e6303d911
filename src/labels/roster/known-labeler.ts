import type { Micros } from '../../contract/timestamp.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import { type PriorityInput, sourceStateOf, type TrackedState } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';

/** Default of the maximum number of enrolled labelers that are read at once. */
export const defaultMaxEnrolled = 5_000;
/** Highest maximum that was measured; see `docs/scale.md`. */
export const highestMaxEnrolled = 10_000;

/** All resolution statuses. */
const resolutionStatuses = [
  /** The document has not been read yet. */
  'unresolved',
  /** The document declares a labeler service. */
  'labeler',
  /** The document declares a labeler service whose endpoint is not an https address. */
  'bad_endpoint',
  /** The DID has no document, or its document declares no labeler service. */
  'no_labeler',
] as const;
/** Resolution status of a labeler's document. */
type ResolutionStatus = (typeof resolutionStatuses)[number];

/** A labeler in the roster, whether or not it is enrolled. */
export interface KnownLabeler {
  readonly did: string;
  readonly origin: RosterRow['origin'];
  /** Discovery sources that named the labeler: `seeds`, `relay HOST`, `jetstream`, `directory HOST`. */
  readonly provenance: Set<string>;
  resolutionStatus: ResolutionStatus;
  endpoint: string | null;
  /** Origin of the host of the labeler's records, as its document names it, or null if unknown. */
  pds: string | null;
  /** Handle that the labeler's document claims. `handleConfirmed` states whether the handle was confirmed. */
  handle: string | null;
  /** True if the last check of the handle resolved it to this labeler. */
  handleConfirmed: boolean;
  /** True if the operator denies the labeler. A denied labeler is neither enrolled nor read. */
  denied: boolean;
  readonly tracker: Tracker;
}

/**
 * Returns true if a labeler is an enrolled source: the operator does not deny the labeler, its document names a labeler
 * service, its trial has not failed, and it is not unreachable.
 */
export function isEnrolled({ resolutionStatus, denied, tracker }: KnownLabeler, now: Micros): boolean {
  if (denied) return false;
  return (resolutionStatus === 'labeler' || resolutionStatus === 'bad_endpoint') && tracker.enrolled(now);
}

/** Returns true if the seeds file names a labeler, even if another discovery source named it first. */
export function isSeeded({ origin, provenance }: Pick<KnownLabeler, 'origin' | 'provenance'>): boolean {
  return origin === 'seeded' || provenance.has('seeds');
}

/** Returns the properties of a labeler that determine its priority class. */
export function priorityInput(labeler: KnownLabeler): PriorityInput {
  return { seeded: isSeeded(labeler), ...labeler.tracker.tracked };
}

/** Converts a labeler to its row in the store. */
export function rowOf(labeler: KnownLabeler, now: Micros): RosterRow {
  const { did, origin, endpoint, resolutionStatus, handle, handleConfirmed } = labeler;
  return {
    ...{ did, origin, endpoint, resolutionStatus },
    provenance: [...labeler.provenance],
    enrolled: isEnrolled(labeler, now),
    handle: handle === null ? null : { name: handle, confirmed: handleConfirmed },
    ...labeler.tracker.tracked,
  };
}

/**
 * Returns the gap of a labeler that left the enrolment, within the interval, or null if the labeler has no such gap.
 */
export function departureOf(labeler: KnownLabeler, interval: Interval): StoredGap | null {
  if (labeler.tracker.tracked.lastAnswered === null) return null;
  return departureGap(rowOf(labeler, interval.end), interval);
}

/**
 * Returns the labeler of a roster row. `answeredAt` is the time of its last accepted page according to the stored
 * rows. The labeler counts as complete at most up to that time, because later rows may be lost.
 */
export function labelerFromRow(row: RosterRow, answeredAt: Micros | null): KnownLabeler {
  const { did, origin, endpoint, handle, stateSince, firstAsked, failingSince, dated, undated } = row;
  const lastAnswered = answeredAt ?? row.lastAnswered;
  const complete = row.completeThrough;
  const tracked: TrackedState = {
    ...{ stateSince, firstAsked, lastAnswered, failingSince, dated, undated },
    state: sourceStateOf(row.state),
    firstAnswered: lastAnswered === null ? null : (row.firstAnswered ?? lastAnswered),
    completeThrough: complete === null ? null : micros(Math.min(complete, answeredAt ?? complete)),
  };
  return {
    ...{ did, origin, endpoint },
    provenance: new Set(row.provenance),
    resolutionStatus: resolutionStatuses.find((status) => status === row.resolutionStatus) ?? 'unresolved',
    pds: null,
    handle: handle?.name ?? null,
    handleConfirmed: handle?.confirmed ?? false,
    denied: false,
    tracker: new Tracker(did, tracked),
  };
}
