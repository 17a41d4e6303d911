import type { FetchedFact } from '../../src/archive/fetch-fact.ts';
import type { HoursReadings } from '../../src/archive/hours/hour-lists.ts';
import { publishedFact } from './published-bodies.ts';
import { simulatedStart } from './simulated-archive.ts';
import { simulatedHours } from './simulated-hours.ts';

/**
 * Simulates the facts service and the instruments for an archiver that a test kills. The output depends only on the
 * time, so an interrupted archive can be compared with an uninterrupted archive.
 */

const hourMs = 3_600_000;

/**
 * Intervals, in hours since the start, during which the operator holds the label facts. A day is due to be closed in
 * the last interval.
 */
const heldHours = [
  [10, 16],
  [70, 76],
] as const;
/**
 * Interval, in hours since the start, during which the label instrument has no hours file. The interval is longer
 * than the time that one hours file covers.
 */
const missingHours = [[34, 120]] as const;

function isIn(spans: readonly (readonly [number, number])[], now: number): boolean {
  const hour = (now - simulatedStart) / hourMs;
  return spans.some(([from, to]) => hour >= from && hour < to);
}

/** Returns the response of the simulated facts service. */
export function killedRespond(path: string, now: number): FetchedFact {
  return publishedFact(path, { now, isHeld: isIn(heldHours, now) });
}

/** Returns the simulated hours files of both instruments. */
export function killedHours(now: number): HoursReadings {
  const { weather, labels } = simulatedHours(now);
  return { weather, labels: isIn(missingHours, now) ? { kind: 'failure', reason: 'missing' } : labels };
}
