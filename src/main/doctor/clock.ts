import { maxUpstreamDifference } from '../../labels/clock/clock-watch.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import type { Offset } from './upstreams.ts';

/** Smallest offset in milliseconds that is reported; a network delay can cause a smaller offset. */
const noticeableMs = 3_000;

/**
 * Compares this machine's clock with the clocks of the upstreams. Uses the median difference, because the clock of
 * one peer may be wrong.
 */
export function checkClock(offsets: readonly Offset[]): Finding {
  const check = 'clock';
  const middle = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b))[Math.floor((offsets.length - 1) / 2)];
  if (middle === undefined)
    return warn(check, 'no upstream reported the time', 'make sure that NTP synchronizes the clock');
  const by = `${(Math.abs(middle) / 1000).toFixed(1)} s`;
  const found = `this machine is ${by} ${middle < 0 ? 'behind' : 'ahead of'} the upstreams`;
  const todo = 'set the clock and enable NTP';
  if (Math.abs(middle) > maxUpstreamDifference / 1000) return fail(check, found, `no labels will be accepted: ${todo}`);
  if (Math.abs(middle) > noticeableMs) return warn(check, found, todo);
  return ok(check, `this machine agrees with the upstreams (${offsets.length} responded)`);
}
