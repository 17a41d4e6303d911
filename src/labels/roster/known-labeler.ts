import type { Micros } from '../../contract/timestamp.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { PriorityInput } from '../state/priority.ts';
import type { TrackedState } from '../state/reading-state.ts';
import { sourceStateOf } from '../state/source-state.ts';
import { Tracker } from '../state/tracker.ts';

/** Most labelers that are enrolled. */
export const maxEnrolled = 5_000;

/** Resolution status of a labeler's document. */
export const resolutionStatuses = [
  /** Nothing yet. */
  'unresolved',
  /** A labeler endpoint. */
  'labeler',
  /** A labeler service whose endpoint is no https address. */
  'bad_endpoint',
  /** No document, or none with a labeler service. */
  'no_labeler',
] as const;
/** One of them. */
export type ResolutionStatus = (typeof resolutionStatuses)[number];

/** A labeler that is known, enrolled or not. */
export interface KnownLabeler {
  readonly did: string;
  readonly origin: RosterRow['origin'];
  /** Sources that named it: `seeds`, `relay HOST`, `jetstream`. */
  readonly provenance: Set<string>;
  resolutionStatus: ResolutionStatus;
  endpoint: string | null;
  /** Origin of the host of its records, as its document names it. */
  pds: string | null;
  /** The name that its document claims; it is its own only once that name was seen to answer for it too. */
  handle: string | null;
  handleConfirmed: boolean;
  /** True if the operator denies it: it is neither enrolled nor read. */
  denied: boolean;
  readonly tracker: Tracker;
}

/**
 * Returns true if a labeler is an enrolled source: its document names a labeler service, and it has passed or is in
 * its trial.
 */
export function isEnrolled({ resolutionStatus, denied, tracker }: KnownLabeler, now: Micros): boolean {
  if (denied) return false;
  return (resolutionStatus === 'labeler' || resolutionStatus === 'bad_endpoint') && tracker.enrolled(now);
}

/** Returns true if the seeds file names it, even if another source named it first. */
export function isSeeded({ origin, provenance }: Pick<KnownLabeler, 'origin' | 'provenance'>): boolean {
  return origin === 'seeded' || provenance.has('seeds');
}

/** Input for a labeler's priority. */
export function priorityInput(labeler: KnownLabeler): PriorityInput {
  return { seeded: isSeeded(labeler), ...labeler.tracker.tracked };
}

/** Returns the roster row of a labeler. */
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

/** The gap of a labeler that left the enrolment, in the interval; null where there is none. */
export function departureOf(labeler: KnownLabeler, interval: Interval): StoredGap | null {
  if (labeler.tracker.tracked.lastAnswered === null) return null;
  return departureGap(rowOf(labeler, interval.end), interval);
}

/**
 * Returns the labeler of a roster row. `answeredAt` is the time of its last accepted page, which the rows prove: what was
 * complete later is lost if rows were lost.
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
