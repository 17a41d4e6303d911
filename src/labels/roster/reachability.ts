import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day } from '../../store/time.ts';
import { isEnrolled, type Member } from './member.ts';

/**
 * Returns true if a labeler left the enrolment because it has not responded for 7 days, although it once did. Its rows
 * stay, its gap goes on, and it is tried daily.
 */
export function isUnreachable(member: Member, now: Micros): boolean {
  const { denied, finding, tracker } = member;
  if (denied || tracker.tracked.lastAnswered === null) return false;
  return (finding === 'labeler' || finding === 'bad_endpoint') && !isEnrolled(member, now);
}

/** Logs labelers that leave the enrolment because they are unreachable, and those that respond again. */
export class Reachability {
  readonly #log: Log;
  /** Unreachable labelers, each with the start of its failures; null where a version before stored none. */
  readonly #unreachable = new Map<string, Micros | null>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes over the labelers that had left when the last run ended, so that their return is logged too. */
  load(rows: readonly RosterRow[], labeler: (did: string) => Member | undefined): void {
    for (const { did, enrolled } of rows) {
      const tracked = labeler(did)?.tracker.tracked;
      if (!enrolled && tracked && tracked.lastAnswered !== null && tracked.failingSince !== null) {
        this.#unreachable.set(did, tracked.failingSince);
      }
    }
  }

  /** Compares the labelers with the last look, and logs what changed. */
  look(members: Iterable<Member>, now: Micros): void {
    for (const member of members) {
      const { did, denied, finding, tracker } = member;
      const since = this.#unreachable.get(did);
      if (isUnreachable(member, now)) {
        if (since === undefined) this.#leave(member, now);
      } else if (since !== undefined && (denied || finding === 'no_labeler')) {
        this.#unreachable.delete(did);
      } else if (since !== undefined && tracker.tracked.failingSince === null) {
        this.#unreachable.delete(did);
        this.#log.info('a labeler that was unreachable responds again', { labeler: did, days: daysSince(since, now) });
      }
    }
  }

  #leave({ did, tracker }: Member, now: Micros): void {
    const { failingSince, state } = tracker.tracked;
    this.#unreachable.set(did, failingSince);
    this.#log.info('a labeler left the enrolment because it is unreachable; it is tried daily', {
      labeler: did,
      state,
      days: daysSince(failingSince, now),
    });
  }
}

function daysSince(since: Micros | null, now: Micros): number | null {
  return since === null ? null : Math.floor((now - since) / day);
}
