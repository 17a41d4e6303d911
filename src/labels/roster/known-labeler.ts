import type { Micros } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-object.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import { labelerHandle, type RosterRow } from '../../store/roster.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { PriorityInput } from '../state/priority.ts';
import type { TrackedState } from '../state/reading-state.ts';
import { sourceStateOf } from '../state/source-state.ts';
import { Tracker } from '../state/tracker.ts';

/** Maximum number of enrolled labelers. */
export const maxEnrolled = 5_000;

/** All resolution statuses. */
export const resolutionStatuses = [
  /** The document was not read yet. */
  'unresolved',
  /** The document declares a labeler service. */
  'labeler',
  /** The document declares a labeler service whose endpoint is not an https address. */
  'bad_endpoint',
  /** There is no document, or it declares no labeler service. */
  'no_labeler',
] as const;
/** Resolution status of a labeler's document. */
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
  /** Handle that its document claims; see `handleConfirmed`. */
  handle: string | null;
  /** True if the handle was seen to resolve to this labeler. */
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

/** Returns the facts that decide a labeler's priority class. */
export function priorityInput(labeler: KnownLabeler): PriorityInput {
  return { seeded: isSeeded(labeler), ...labeler.tracker.tracked };
}

/** Converts a labeler to its row in the store. */
export function rowOf(labeler: KnownLabeler, now: Micros): RosterRow {
  const { state, stateSince, ...rest } = labeler.tracker.tracked;
  return {
    did: labeler.did,
    origin: labeler.origin,
    provenance: [...labeler.provenance],
    enrolled: isEnrolled(labeler, now),
    endpoint: labeler.endpoint,
    state,
    stateSince,
    detail: JSON.stringify({ finding: labeler.resolutionStatus, ...rest, ...writeHandle(labeler) }),
  };
}

/** Returns the gap of a labeler that left the enrolment, within the interval; null if there is none. */
export function departureOf(labeler: KnownLabeler, interval: Interval): StoredGap | null {
  if (labeler.tracker.tracked.lastAnswered === null) return null;
  return departureGap(rowOf(labeler, interval.end), interval);
}

/**
 * Converts a stored row to a labeler. `answeredAt` is the time of the last accepted page according to the rows: the labeler
 * is complete no later than that, because later rows may be lost.
 */
export function labelerFromRow(row: RosterRow, answeredAt: Micros | null): KnownLabeler {
  const detail = parse(row.detail);
  const handle = labelerHandle(row);
  const lastAnswered = answeredAt ?? instant(detail.lastAnswered);
  // Versions without this field had read every source to its end, or recorded a gap.
  const complete = 'completeThrough' in detail ? instant(detail.completeThrough) : lastAnswered;
  const firstAsked = instant(detail.firstAsked);
  // Earlier versions stored only the first attempt, which is the nearest bound.
  const answering = 'firstAnswered' in detail ? instant(detail.firstAnswered) : (firstAsked ?? row.stateSince);
  const tracked: TrackedState = {
    state: sourceStateOf(row.state),
    stateSince: row.stateSince,
    firstAsked,
    firstAnswered: lastAnswered === null ? null : (answering ?? lastAnswered),
    lastAnswered,
    failingSince: instant(detail.failingSince),
    completeThrough: complete === null ? null : micros(Math.min(complete, answeredAt ?? complete)),
    dated: detail.dated === true,
    undated: detail.undated === true,
  };
  return {
    did: row.did,
    origin: row.origin,
    provenance: new Set(row.provenance),
    resolutionStatus: resolutionStatuses.find((status) => status === detail.finding) ?? 'unresolved',
    endpoint: row.endpoint,
    pds: null,
    handle: handle?.name ?? null,
    handleConfirmed: handle?.confirmed ?? false,
    denied: false,
    tracker: new Tracker(row.did, tracked),
  };
}

/** Formats the handle for `labelerHandle`. */
function writeHandle({ handle, handleConfirmed }: KnownLabeler): {
  readonly handle?: string;
  readonly confirmed?: boolean;
} {
  return handle === null ? {} : { handle, confirmed: handleConfirmed };
}

function instant(value: unknown): Micros | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? micros(value) : null;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
