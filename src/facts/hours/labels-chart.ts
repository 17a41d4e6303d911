import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import type { Bin, Hole } from '../../web/chart/series.ts';
import { countText, instantText } from '../../web/format.ts';
import { binOf, withUnlistedHoles } from './bins.ts';
import type { PageChart } from './hours-chart.ts';

/** Reasons for which no labeler was observed, in words. */
export const labelReasons: Readonly<Record<GapReason, string>> = {
  not_observed: 'not observed',
  source_unavailable: 'no labeler could be reached',
  ingest_paused: 'collection was paused',
  cursor_reset: 'the position in the streams was lost',
  maintenance: 'maintenance',
  warmup: 'before the observation began',
  unknown: 'reason unknown',
};

/** Creates the chart of label applications (above zero) and removals (below zero) by hour, of all labelers together. */
export function labelsChart(file: LabelsHours): PageChart {
  const through = Date.parse(file.through);
  const listed = file.gaps.map(
    ({ start, end, reason }): Hole => ({
      start: Date.parse(start),
      end: Date.parse(end),
      reason: labelReasons[reason],
    }),
  );
  const hours = file.hours.map((hour) => ({ start: Date.parse(hour.start), seconds: hour.observed_seconds, hour }));
  const holes = withUnlistedHoles(hours, listed, through);
  const hasLate = file.hours.some(({ filled_in: late }) => late && late.applications + late.removals > 0);
  const bins = hours.map(
    ({ start, seconds, hour }): Bin => ({
      ...binOf({ start, seconds, through, holes }),
      // Labels that were read late arrived together after an outage, and belong to no rate of this hour.
      value: without(hour.applications, hour.filled_in?.applications),
      below: without(hour.removals, hour.filled_in?.removals),
      ...(hasLate ? { apart: hour.filled_in ? hour.filled_in.applications + hour.filled_in.removals : null } : {}),
    }),
  );
  return {
    series: { id: 'labels', shape: 'bars', paint: 'labels', bins, holes, through },
    title: 'Labels applied (above) and removed (below), by hour',
    unit: 'per hour',
    answer: answerOf(bins, through),
    columns: { value: 'Applied', below: 'Removed', ...(hasLate ? { apart: 'Read late' } : {}) },
  };
}

function without(count: number | null, part = 0): number | null {
  return count === null ? null : count - part;
}

function answerOf(bins: readonly Bin[], through: number): string {
  const last = bins.filter(({ end, observed }) => end <= through && observed >= 1).at(-1);
  if (!last || last.value === null) return 'No hour was observed entirely yet.';
  return `In the last hour that was observed entirely, ${instantText(new Date(last.start).toISOString())}, ${countText(last.value)} applications and ${countText(last.below ?? 0)} removals were observed.`;
}
