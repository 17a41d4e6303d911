import type { LabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import type { GapReason, WeatherGapReason } from '../../src/contract/vocabulary.ts';
import { labelsHoursFixture, weatherHoursFixture } from './hours.ts';

/** Hours files whose charts must be understood at a glance: a storm, holes, and the first hour of an observation. */

/** Time in which nothing was observed, in hours of the file. */
interface Missed {
  readonly from: number;
  readonly to: number;
  readonly weather: WeatherGapReason;
  readonly labels: GapReason;
}

interface ChartCase {
  readonly missed: readonly Missed[];
  /** Factor of the rate of an hour. */
  readonly times?: (hour: number) => number;
}

const partOfADay = Array.from(
  { length: 24 },
  (_, at): Missed => ({ from: 24 + at, to: 24.4 + at, weather: 'not_observed', labels: 'source_unavailable' }),
);

/** The cases by name, in hours of a file of 72 hours. */
export const chartCases = {
  /** Two hours were not observed. */
  hole: { missed: [{ from: 40, to: 42, weather: 'not_observed', labels: 'ingest_paused' }] },
  /** Of each hour of one day, 24 minutes were not observed. */
  partial: { missed: partOfADay },
  /** The observation began an hour ago. */
  fresh: { missed: [{ from: 0, to: 71, weather: 'not_observed', labels: 'warmup' }] },
  /** For six hours, three times as much happened as usual. */
  storm: { missed: [], times: (hour: number) => (hour >= 50 && hour < 56 ? 3 : 1) },
} satisfies Record<string, ChartCase>;

export type ChartCaseName = keyof typeof chartCases;

const hourMs = 3_600_000;

/** Returns the unobserved intervals of a case, in milliseconds since 1970, and the observed seconds of each hour. */
function observedIn({ missed }: ChartCase, first: number, through: number) {
  const at = (hour: number): number => first + Math.round(hour * 3600) * 1000;
  const gaps = missed.map((gap) => ({ ...gap, start: at(gap.from), end: Math.min(through, at(gap.to)) }));
  return {
    gaps,
    secondsOf: (start: number): number => {
      const end = Math.min(start + hourMs, through);
      const lost = gaps.reduce((sum, gap) => sum + Math.max(0, Math.min(end, gap.end) - Math.max(start, gap.start)), 0);
      return (end - start - lost) / 1000;
    },
  };
}

/** Generates the hours files of a case, as both instruments would write them at `generatedAt`. */
export function chartCaseFiles(
  name: ChartCaseName,
  { generatedAt, generationId }: { readonly generatedAt: number; readonly generationId: string },
): { readonly weather: WeatherHours; readonly labels: LabelsHours } {
  const one: ChartCase = chartCases[name];
  const weather = weatherHoursFixture({ generatedAt });
  const labels = labelsHoursFixture({ generatedAt, labelers: ['did:plc:ewvi7nxzyoun6zhxrhs64oiz'] });
  const first = Date.parse(labels.hours[0]?.start ?? '');
  const { gaps, secondsOf } = observedIn(one, first, Date.parse(labels.through));
  const rateOf = (hour: number): number => 620 - 240 * Math.cos(((hour - 4) / 24) * 2 * Math.PI) + (hour % 5) * 9;
  const times = (hour: number): number => one.times?.(hour) ?? 1;
  const span = (gap: { readonly start: number; readonly end: number }) => ({
    start: new Date(gap.start).toISOString(),
    end: new Date(gap.end).toISOString(),
  });
  return {
    weather: {
      ...weather,
      origin: 'live',
      series: weather.series.map((series) => ({
        ...series,
        ...(name === 'fresh' ? { observed_since: new Date(gaps[0]?.end ?? first).toISOString() } : {}),
        gaps: gaps.map((gap) => ({ ...span(gap), reason: gap.weather, collection: null })),
        hours: series.hours.map((hour, at) => {
          const seconds = secondsOf(Date.parse(hour.start));
          const usual = { low: rateOf(at) * 0.85, high: rateOf(at) * 1.15, days: 28 };
          return {
            ...hour,
            observed_seconds: seconds,
            events: seconds === 0 ? null : Math.round(rateOf(at) * times(at) * seconds),
            usual: name === 'fresh' ? null : usual,
          };
        }),
      })),
    },
    labels: {
      ...labels,
      origin: 'live',
      generation_id: generationId,
      gaps: gaps.map((gap) => ({ ...span(gap), reason: gap.labels })),
      hours: labels.hours.map((hour, at) => {
        const seconds = secondsOf(Date.parse(hour.start));
        const share = (seconds / 3600) * times(at);
        return {
          ...hour,
          observed_seconds: seconds,
          labeler_seconds: seconds,
          applications: seconds === 0 ? null : Math.round(rateOf(at) * 2 * share),
          removals: seconds === 0 ? null : Math.round(rateOf(at) * 0.3 * share),
          repeats: seconds === 0 ? null : 0,
          sources: seconds === 0 ? null : hour.sources,
        };
      }),
    },
  };
}
