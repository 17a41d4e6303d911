import type { Log } from '../../ops/log.ts';
import type { Position } from '../position/position.ts';
import type { TrackGain } from '../window/track.ts';
import type { WeatherTelemetry } from './telemetry.ts';

/** Result of one commit of a session. */
export interface CommitReport {
  readonly gains: readonly TrackGain[];
  /** Duration of the commit, in milliseconds. */
  readonly milliseconds: number;
  /** Position of the live reader after the commit, or null if it has none. */
  readonly position: Position | null;
}

/**
 * Reports a commit to the metrics, and logs what was not observed or not counted. `nowMs` is the wall clock, in
 * milliseconds.
 */
export function reportCommit(
  { gains, milliseconds, position }: CommitReport,
  { telemetry, log, nowMs }: { readonly telemetry: WeatherTelemetry; readonly log: Log; readonly nowMs: number },
): void {
  for (const { outcomes, gapUs, resets } of gains) {
    telemetry.frames(outcomes);
    telemetry.gap(gapUs / 1e6);
    for (let i = 0; i < resets; i += 1) telemetry.positionReset();
    if (resets > 0)
      log.warn('the stream does not contain the stored position; the position is abandoned, and a gap is recorded');
    if (outcomes.past + outcomes.implausible > 0) {
      log.warn('events with implausible times or numbers are not counted', {
        past: outcomes.past,
        implausible: outcomes.implausible,
      });
    }
    if (outcomes.future > 0) {
      log.warn("events ahead of this machine's clock are not counted; check the clock", { events: outcomes.future });
    }
    if (gapUs > 0) log.warn('part of the stream was not observed', { seconds: gapUs / 1e6 });
  }
  telemetry.committed(
    gains.reduce((sum, { windows }) => sum + windows.length, 0),
    milliseconds,
  );
  if (position) reportLag(position, telemetry, nowMs);
}

/**
 * Reports the age of the newest counted event. A session also calls this function when it starts, because no event
 * arrives after a restart during an outage.
 */
export function reportLag({ timeUs }: Position, telemetry: WeatherTelemetry, nowMs: number): void {
  telemetry.lag(Math.max(0, nowMs / 1000 - timeUs / 1e6), timeUs / 1000);
}
