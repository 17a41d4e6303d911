import type { Micros } from '../../contract/timestamp.ts';
import { registrableDomain } from '../../network/guard/host-rates.ts';
import type { Log } from '../../ops/log.ts';
import { departureGap } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day, type Interval, micros } from '../../store/time.ts';
import type { ReadingEvent } from '../state/reading-events.ts';
import {
  isPrivileged,
  type PriorityInput,
  priorityOf,
  sourceStateOf,
  stateTimes,
  type TrackedState,
} from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { domainOf } from './resolution-queue.ts';

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
  /**
   * Discovery sources that named the labeler: `seeds`, `relay HOST`, `jetstream`, `directory HOST`, and `operator` if the
   * labeler was added because the operator allowed its DID.
   */
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
export function isEnrolled(labeler: KnownLabeler, now: Micros): boolean {
  return !labeler.denied && declaresService(labeler) && labeler.tracker.enrolled(now);
}

/** Returns true if the last document of a labeler that was read declares a labeler service. */
export function declaresService({ resolutionStatus }: Pick<KnownLabeler, 'resolutionStatus'>): boolean {
  return resolutionStatus === 'labeler' || resolutionStatus === 'bad_endpoint';
}

/** Returns true if the seeds file names a labeler, even if another discovery source named it first. */
function isSeeded({ origin, provenance }: Pick<KnownLabeler, 'origin' | 'provenance'>): boolean {
  return origin === 'seeded' || provenance.has('seeds');
}

/** Returns the properties of a labeler that determine its priority class. */
export function priorityInput(labeler: KnownLabeler): PriorityInput {
  return { seeded: isSeeded(labeler), ...labeler.tracker.tracked };
}

/**
 * Converts a labeler to its row in the store. With `waits`, the labeler waits for a reading slot: its row is not enrolled
 * if it was read before, so that its unread time is a gap at once. A labeler that never responded has no gap, and stays
 * enrolled until its trial ends.
 */
export function rowOf(labeler: KnownLabeler, now: Micros, waits = false): RosterRow {
  const { did, origin, endpoint, resolutionStatus, handle, handleConfirmed } = labeler;
  return {
    ...{ did, origin, endpoint, resolutionStatus },
    provenance: [...labeler.provenance],
    enrolled: isEnrolled(labeler, now) && !(waits && labeler.tracker.tracked.lastAnswered !== null),
    handle: handle === null ? null : { name: handle, confirmed: handleConfirmed },
    ...labeler.tracker.tracked,
  };
}

/**
 * Returns the gap of a labeler that left the enrolment, or that `waits` for a reading slot, within the interval, or null
 * if the labeler has no such gap.
 */
export function departureOf(labeler: KnownLabeler, interval: Interval, waits = false): StoredGap | null {
  if (labeler.tracker.tracked.lastAnswered === null) return null;
  const gap = departureGap(rowOf(labeler, interval.end, waits), interval);
  return gap && waits ? { ...gap, reason: 'ingest_paused' } : gap;
}

/**
 * Returns the labeler of a roster row. `answeredAt` is the time of its last accepted page according to the stored
 * rows. The labeler counts as complete at most up to that time, because later rows may be lost. It is no longer failing
 * if its failures began before that time: after a crash, the row may be older than the positions.
 */
export function labelerFromRow(row: RosterRow, answeredAt: Micros | null): KnownLabeler {
  const { did, origin, endpoint, handle, stateSince, firstAsked, failingSince, dated, undated } = row;
  const lastAnswered = answeredAt ?? row.lastAnswered;
  const complete = row.completeThrough;
  const tracked: TrackedState = {
    ...{ stateSince, firstAsked, lastAnswered, dated, undated },
    failingSince: failingSince !== null && answeredAt !== null && answeredAt > failingSince ? null : failingSince,
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

/**
 * Maximum shares of a full roster for new labelers that have the same domain in their did:web, in their endpoint, or in
 * the host of their records. Many honest labelers share the host of their records.
 */
const shares = { did: 1 / 20, endpoint: 1 / 20, pds: 1 / 4 } as const;

/** Labelers that a full roster may evict. The last entry of each list is evicted first. */
interface EvictionCandidates {
  /**
   * Labelers that never responded, and whose document declares no labeler service or whose trial has ended. These
   * labelers are evicted before `surplus`.
   */
  readonly unused: string[];
  /** Newest labelers of groups that exceed their share. */
  readonly surplus: string[];
  /**
   * Domains of did:web that have used up their share. A further labeler of such a domain must not evict a labeler of
   * `surplus`.
   */
  readonly crowded: ReadonlySet<string>;
}

/** Returns the labelers that a full roster may evict. Seeded and established labelers are never evicted. */
export function evictionCandidates(labelers: Iterable<KnownLabeler>, max: number, now: Micros): EvictionCandidates {
  const failed: string[] = [];
  const withoutService: string[] = [];
  const others: KnownLabeler[] = [];
  for (const labeler of labelers) {
    if (!isEvictable(labeler, now)) continue;
    if (hasFailedTrial(labeler, now)) failed.push(labeler.did);
    else if (isUnused(labeler, now)) withoutService.push(labeler.did);
    else others.push(labeler);
  }
  return { unused: [...withoutService.reverse(), ...failed.reverse()], ...surplusOf(others, max) };
}

/** Returns true if a labeler never responded, and its document declares no labeler service or its trial has ended. */
export function isUnused(labeler: KnownLabeler, now: Micros): boolean {
  const hasNoService = labeler.resolutionStatus === 'no_labeler' && labeler.tracker.tracked.lastAnswered === null;
  return hasNoService || hasFailedTrial(labeler, now);
}

/** Returns true if a labeler is neither seeded nor established, so that it may be evicted. */
function isEvictable(labeler: KnownLabeler, now: Micros): boolean {
  return !isPrivileged(priorityOf(priorityInput(labeler), now));
}

/** Returns true if a labeler was discovered and its trial ended without a response, or without a document. */
function hasFailedTrial(labeler: KnownLabeler, now: Micros): boolean {
  const { lastAnswered, firstAsked, stateSince } = labeler.tracker.tracked;
  return !isSeeded(labeler) && lastAnswered === null && now - (firstAsked ?? stateSince) >= stateTimes.trialPeriod;
}

/**
 * Returns the labelers that exceed the share of one of their groups, in the order of their discovery, and the domains
 * of did:web that have used up their share.
 */
function surplusOf(labelers: readonly KnownLabeler[], max: number): Pick<EvictionCandidates, 'surplus' | 'crowded'> {
  const counts = new Map<string, number>();
  const surplus: string[] = [];
  const crowded = new Set<string>();
  for (const labeler of labelers) {
    const groups = groupsOf(labeler);
    for (const { key } of groups) counts.set(key, (counts.get(key) ?? 0) + 1);
    if (groups.some(({ key, share }) => (counts.get(key) ?? 0) > share * max)) surplus.push(labeler.did);
    const domain = domainOf(labeler.did);
    if (domain !== '' && (counts.get(`did ${domain}`) ?? 0) >= shares.did * max) crowded.add(domain);
  }
  return { surplus, crowded };
}

function groupsOf({ did, endpoint, pds }: KnownLabeler): { readonly key: string; readonly share: number }[] {
  const domain = domainOf(did);
  return [
    ...(domain === '' ? [] : [{ key: `did ${domain}`, share: shares.did }]),
    ...(endpoint === null
      ? []
      : [{ key: `endpoint ${registrableDomain(new URL(endpoint).host)}`, share: shares.endpoint }]),
    ...(pds === null ? [] : [{ key: `pds ${registrableDomain(new URL(pds).host)}`, share: shares.pds }]),
  ];
}

/**
 * Returns true if a labeler has responded before, and left the enrolment because it has not responded for 7 days. Its
 * rows stay stored, its gap grows, and it is tried daily.
 */
export function isUnreachable(labeler: KnownLabeler, now: Micros): boolean {
  const { denied, tracker } = labeler;
  if (denied || tracker.tracked.lastAnswered === null) return false;
  return declaresService(labeler) && !isEnrolled(labeler, now);
}

/** Presence of a labeler that was read before: it is read, waits for a reading slot, or neither. */
export type Presence = 'read' | 'waiting' | 'not_read';

/**
 * Returns the event for an absent labeler: its labels since it was last read to the end are unknown. Returns null while
 * the labeler is read and enrolled, while it is denied, and while its document is not known.
 */
export function absenceOf(
  { resolutionStatus, denied, tracker }: KnownLabeler,
  presence: Presence,
  now: Micros,
): Extract<ReadingEvent, { kind: 'displaced' | 'left' }> | null {
  // A denial records a separate gap. After a crash, a labeler counts as not read only after its document was read again.
  if (denied || resolutionStatus === 'unresolved') return null;
  if (presence === 'waiting') return { kind: 'displaced', now };
  return presence === 'not_read' || !tracker.enrolled(now) ? { kind: 'left', now } : null;
}

/** Logs labelers that leave the enrolment because they are unreachable, and unreachable labelers that respond again. */
export class Reachability {
  readonly #log: Log;
  /** Unreachable labelers, each with the start of its failures, or null if a row of an earlier version has no start. */
  readonly #unreachable = new Map<string, Micros | null>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Loads the labelers that were unreachable when the last run ended, so that their return is logged. A labeler that
   * failed for less than 7 days was not enrolled for another reason, such as its wait for a reading slot.
   */
  load(rows: readonly RosterRow[], labeler: (did: string) => KnownLabeler | undefined, now: Micros): void {
    for (const { did, enrolled } of rows) {
      const { lastAnswered = null, failingSince = null } = labeler(did)?.tracker.tracked ?? {};
      if (enrolled || lastAnswered === null || failingSince === null) continue;
      if (now - failingSince >= stateTimes.unreachableAfter) this.#unreachable.set(did, failingSince);
    }
  }

  /** Compares the labelers with those of the last call, and logs changes. */
  look(labelers: Iterable<KnownLabeler>, now: Micros): void {
    for (const labeler of labelers) {
      const { did, denied, resolutionStatus, tracker } = labeler;
      const since = this.#unreachable.get(did);
      if (isUnreachable(labeler, now)) {
        if (since === undefined) this.#leave(labeler, now);
      } else if (since !== undefined && (denied || resolutionStatus === 'no_labeler')) {
        this.#unreachable.delete(did);
      } else if (since !== undefined && tracker.tracked.failingSince === null) {
        this.#unreachable.delete(did);
        this.#log.info('a labeler that was unreachable responds again', { labeler: did, days: daysSince(since, now) });
      }
    }
  }

  #leave({ did, tracker }: KnownLabeler, now: Micros): void {
    const { failingSince, state } = tracker.tracked;
    this.#unreachable.set(did, failingSince);
    this.#log.info('a labeler is no longer enrolled because it is unreachable; it is contacted daily', {
      labeler: did,
      state,
      days: daysSince(failingSince, now),
    });
  }
}

function daysSince(since: Micros | null, now: Micros): number | null {
  return since === null ? null : Math.floor((now - since) / day);
}
