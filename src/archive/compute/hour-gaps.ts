import { hourMs, hoursOf } from '../days/calendar.ts';
import type { DayHours } from '../hours/day-hours.ts';
import type { LabelsDay } from '../hours/labels-day.ts';
import type { WeatherDay } from '../hours/weather-day.ts';
import type { ArchiveGap, KeptName } from './gap.ts';

/**
 * Returns the gaps that the hours files of a day report, and the hours without data, up to `until` (milliseconds since
 * 1970).
 */
export function hourGaps({ weather, labels }: DayHours, until: number): ArchiveGap[] {
  const hours = hoursOf(weather.day, until);
  const lastOf = (place: number): string | null =>
    weather.series.reduce<string | null>((last, { through }) => laterOf(last, through[place] ?? null), null);
  return [
    ...unknownHours('weather-hours', hours, { failures: weather.failures, throughOf: lastOf }),
    ...seriesGaps(weather, until),
    ...unknownHours('labels-hours', hours, {
      failures: labels.failures,
      throughOf: (place) => labels.hours[place]?.through ?? null,
    }),
    ...labelGaps(labels, until),
  ];
}

function laterOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) >= Date.parse(b) ? a : b;
}

interface KnownHours {
  readonly failures: readonly (string | null)[];
  /** Returns the time up to which the hour with index `place` is counted; null if nothing is known about that hour. */
  readonly throughOf: (place: number) => string | null;
}

function unknownHours(fact: KeptName, hours: readonly string[], { failures, throughOf }: KnownHours): ArchiveGap[] {
  const gaps: ArchiveGap[] = [];
  for (const [place, hour] of hours.entries()) {
    const hourEnd = Date.parse(hour) + hourMs;
    const through = throughOf(place);
    if (through !== null && Date.parse(through) >= hourEnd) continue;
    const [start, end] = [instant(Date.parse(through ?? hour)), instant(hourEnd)];
    const reason = through === null ? (failures[place] ?? 'not_archived') : 'incomplete';
    const last = gaps.at(-1);
    if (last?.end === start && last.reason === reason) gaps[gaps.length - 1] = { ...last, end };
    else gaps.push({ source: 'archive', fact, start, end, reason });
  }
  return gaps;
}

function seriesGaps({ series }: WeatherDay, until: number): ArchiveGap[] {
  return series.flatMap(({ host, protocol, gaps }) =>
    before(gaps, until).map(({ collection, start, end, reason }) => {
      const kind = collection === null ? {} : { collection };
      return { source: 'weather' as const, host, protocol, ...kind, start, end, reason };
    }),
  );
}

function labelGaps({ gaps, labelers }: LabelsDay, until: number): ArchiveGap[] {
  const own = before(gaps, until).map((gap) => ({ source: 'labels' as const, scope: 'instrument' as const, ...gap }));
  const others = labelers.flatMap((labeler) =>
    before(labeler.gaps, until).map((gap) => ({
      source: 'labels' as const,
      labeler_did: labeler.labeler_did,
      ...gap,
    })),
  );
  return [...own, ...others];
}

/** Returns the gaps that begin before `until` (milliseconds since 1970), cut off at `until`. */
function before<G extends { readonly start: string; readonly end: string }>(gaps: readonly G[], until: number): G[] {
  return gaps
    .filter(({ start }) => Date.parse(start) < until)
    .map((gap) => (Date.parse(gap.end) > until ? { ...gap, end: new Date(until).toISOString() } : gap));
}

function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
