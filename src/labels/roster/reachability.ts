import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day } from '../../store/time.ts';
import { isEnrolled, type KnownLabeler } from './known-labeler.ts';

/**
 * Returns true if a labeler has responded before, and left the enrolment because it has not responded for 7 days. Its
 * rows stay stored, its gap grows, and it is tried daily.
 */
export function isUnreachable(labeler: KnownLabeler, now: Micros): boolean {
  const { denied, resolutionStatus, tracker } = labeler;
  if (denied || tracker.tracked.lastAnswered === null) return false;
  return (resolutionStatus === 'labeler' || resolutionStatus === 'bad_endpoint') && !isEnrolled(labeler, now);
}

/** Logs labelers that leave the enrolment because they are unreachable, and unreachable labelers that respond again. */
export class Reachability {
  readonly #log: Log;
  /** Unreachable labelers, each with the start of its failures, or null if a row of an earlier version has no start. */
  readonly #unreachable = new Map<string, Micros | null>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Loads the labelers that had left when the last run ended, so that their return is logged. */
  load(rows: readonly RosterRow[], labeler: (did: string) => KnownLabeler | undefined): void {
    for (const { did, enrolled } of rows) {
      const tracked = labeler(did)?.tracker.tracked;
      if (!enrolled && tracked && tracked.lastAnswered !== null && tracked.failingSince !== null) {
        this.#unreachable.set(did, tracked.failingSince);
      }
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
