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

/** A labeler as the store keeps it. */
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

/** The gap of a labeler that left the enrolment, in the interval; null where there is none. */
export function departureOf(labeler: KnownLabeler, interval: Interval): StoredGap | null {
  if (labeler.tracker.tracked.lastAnswered === null) return null;
  return departureGap(rowOf(labeler, interval.end), interval);
}

/**
 * A labeler as it was kept; `answeredAt` is when its last page was accepted, which the rows prove: what was complete later
 * is gone with rows that are gone.
 */
export function labelerFromRow(row: RosterRow, answeredAt: Micros | null): KnownLabeler {
  const detail = parse(row.detail);
  const handle = labelerHandle(row);
  const lastAnswered = answeredAt ?? instant(detail.lastAnswered);
  // Versions without this field read every source to its end, or recorded a gap.
  const complete = 'completeThrough' in detail ? instant(detail.completeThrough) : lastAnswered;
  const firstAsked = instant(detail.firstAsked);
  // Versions before this mark was kept knew when a source was first asked, which is the nearest bound.
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

/** In the form that `labelerHandle` reads. */
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
