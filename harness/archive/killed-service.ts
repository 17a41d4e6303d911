import type { FetchedFact } from '../../src/archive/fetch-fact.ts';
import type { HoursReadings } from '../../src/archive/hours/hours-reading.ts';
import { publishedFact } from './published-bodies.ts';
import { simulatedStart } from './simulated-archive.ts';
import { simulatedHours } from './simulated-hours.ts';

/**
 * The service and the instruments of an archiver that is killed. Both depend on the time alone, so that an archive that was
 * interrupted can be compared with one that was not.
 */

const hourMs = 3_600_000;

/** Hours since the start in which the operator holds the label facts; a day is due to be closed in the last ones. */
const heldHours = [
  [10, 16],
  [70, 76],
] as const;
/** Hours since the start in which there is no hours file of the labels: longer than a file reaches back. */
const missingHours = [[34, 120]] as const;

function isIn(spans: readonly (readonly [number, number])[], now: number): boolean {
  const hour = (now - simulatedStart) / hourMs;
  return spans.some(([from, to]) => hour >= from && hour < to);
}

/** Returns the response of the service. */
export function killedRespond(path: string, now: number): FetchedFact {
  return publishedFact(path, { now, isHeld: isIn(heldHours, now) });
}

/** Returns the readings of the hours files. */
export function killedHours(now: number): HoursReadings {
  const { weather, labels } = simulatedHours(now);
  return { weather, labels: isIn(missingHours, now) ? { kind: 'failure', reason: 'missing' } : labels };
}
