import type { TriedHost } from '../doctor/tried-hosts.ts';

/** Time without any answer after which every host is contacted once, in milliseconds. */
const firstCheckMs = 2_000;
/** Interval of further checks while nothing answers, in milliseconds. */
const repeatMs = 60_000;

/** Contacts the hosts of the network while nothing answers. */
export interface HostCheck {
  /**
   * Returns the result of the last check; null before it, and once the network answers. `unansweredMs` is the time for
   * which nothing has answered, null if something does; `now` is in milliseconds.
   */
  look(unansweredMs: number | null, now: number): readonly TriedHost[] | null;
}

/** Creates the check; `tryHosts` contacts each host once and never rejects. */
export function createHostCheck(tryHosts: () => Promise<readonly TriedHost[]>): HostCheck {
  let tried: readonly TriedHost[] | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    look(unansweredMs, now) {
      if (unansweredMs === null) {
        tried = null;
      } else if (unansweredMs >= firstCheckMs && now >= nextAt) {
        nextAt = now + repeatMs;
        void tryHosts().then((hosts) => {
          tried = hosts;
        });
      }
      return tried;
    },
  };
}
