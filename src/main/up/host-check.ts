import type { TriedHost } from '../doctor/tried-hosts.ts';

/** Time without any response after which every host is contacted for the first time, in milliseconds. */
const firstCheckMs = 2_000;
/** Interval between further checks while no host responds, in milliseconds. */
const repeatMs = 60_000;

/** Checks which hosts respond while no part of the network responds. */
interface HostCheck {
  /**
   * Returns the result of the last check, or null before the first check and while the network responds. `unansweredMs`
   * is the time without any response, or null if the network responds. `now` is in milliseconds.
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
