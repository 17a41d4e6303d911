import { hourSeconds, maxHours } from '../../src/artifact/hours/hours.ts';
import type { LabelerHours, LabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import { formatTimestamp } from '../../src/contract/timestamp.ts';
import { collectionNames } from '../../src/contract/vocabulary.ts';

/** Generates hours files, optionally with one unobserved hour. */

/** Options for a generated hours file. */
interface HoursFixtureOptions {
  /** Generation time of the file, in milliseconds since 1970. */
  readonly generatedAt: number;
  /** Number of hours, default 72. */
  readonly hours?: number;
  /** Index of the hour that was not observed; by default all hours were observed. */
  readonly unobserved?: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

interface FixtureHour {
  readonly start: string;
  readonly complete: boolean;
  readonly seconds: number;
}

/** Returns the end of the last closed minute, and the hours with their observed seconds. */
function hoursOf({ generatedAt, hours = maxHours, unobserved = -1 }: HoursFixtureOptions) {
  const through = Math.floor((generatedAt - minuteMs) / minuteMs) * minuteMs;
  const last = Math.floor(through / hourMs) * hourMs;
  const list = Array.from({ length: hours }, (_, at): FixtureHour => {
    const start = last - (hours - 1 - at) * hourMs;
    const closed = Math.min(hourMs, through - start) / 1000;
    const seconds = at === unobserved ? 0 : closed;
    return { start: formatTimestamp(start), complete: closed === hourSeconds, seconds };
  });
  return { through: formatTimestamp(through), list };
}

/** Returns the count, or null for an unobserved hour. */
const counted = (hour: FixtureHour, count: number): number | null => (hour.seconds === 0 ? null : count);

function gapOf({ list }: ReturnType<typeof hoursOf>, unobserved = -1) {
  const hour = list[unobserved];
  if (!hour) return [];
  return [{ start: hour.start, end: formatTimestamp(Date.parse(hour.start) + hourMs) }];
}

/** Generates an hours file of the weather instrument with one series. */
export function weatherHoursFixture(options: HoursFixtureOptions): WeatherHours {
  const made = hoursOf(options);
  const { through, list } = made;
  const collections: WeatherHours['series'][number]['collections'] = {};
  for (const [place, name] of collectionNames.entries()) {
    collections[name] = {
      events: list.map((hour, at) => counted(hour, at * (place + 1))),
      observed_seconds: list.map(({ seconds }) => seconds),
    };
  }
  return {
    schema: 'weather.hours.v1',
    generated_at: formatTimestamp(options.generatedAt),
    origin: 'simulated',
    series: [
      {
        endpoint: 'wss://jetstream.example/subscribe',
        wire: 'jetstream.legacy',
        published: true,
        through,
        hours: list.map((hour, at) => ({
          start: hour.start,
          complete: hour.complete,
          observed_seconds: hour.seconds,
          events: counted(hour, at * 1_000),
        })),
        collections,
        gaps: gapOf(made, options.unobserved).map((gap) => ({ ...gap, reason: 'not_observed', collection: null })),
        gap_overflow: false,
      },
    ],
  };
}

/**
 * Generates an hours file of the label instrument. In hour `at`, every labeler has `at` applications and one removal.
 */
export function labelsHoursFixture(
  options: HoursFixtureOptions & { readonly labelers: readonly string[] },
): LabelsHours {
  const made = hoursOf(options);
  const { through, list } = made;
  const count = options.labelers.length;
  const states = { unstarted: 0, probing: 0, refused: 0, cursor_order_unverified: 0, undated_only: 0 };
  return {
    schema: 'labels.hours.v1',
    generated_at: formatTimestamp(options.generatedAt),
    origin: 'simulated',
    generation_id: '00000000-0000-4000-8000-000000000001',
    started_at: list[0]?.start ?? through,
    through,
    hours: list.map((hour, at) => ({
      start: hour.start,
      complete: hour.complete,
      observed_seconds: hour.seconds,
      labeler_seconds: hour.seconds * count,
      applications: counted(hour, at * count),
      removals: counted(hour, count),
      repeats: counted(hour, 0),
      sources:
        hour.seconds === 0
          ? null
          : { at: hour.start, enrolled: count, established: count, ...states, provider_rejects: 0, unavailable: 0 },
    })),
    gaps: gapOf(made, options.unobserved).map((gap) => ({ ...gap, reason: 'ingest_paused' })),
    gap_overflow: false,
    labelers: options.labelers.toSorted().map(
      (did): LabelerHours => ({
        labeler_did: did,
        applications: list.map((hour, at) => counted(hour, at)),
        removals: list.map((hour) => counted(hour, 1)),
        observed_seconds: list.map(({ seconds }) => seconds),
        gaps: [],
        gap_overflow: false,
      }),
    ),
    omitted: 0,
  };
}
