import Type from 'typebox';
import { hoursLimits } from '../../artifact/hours/hours.ts';
import type { WeatherHourSeries, WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { collectionNames, weatherGapReasons, wires } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { check, count, measure, nullable, oneOf, usableInstant } from '../../input/schema.ts';
import { parsedObject } from '../days/records.ts';
import {
  type DayForm,
  dayHours,
  dayList,
  type HoursFailure,
  hoursFailures,
  notedFailures,
  type Packed,
  packed,
  Replacement,
  throughOf,
  unpacked,
} from './hour-lists.ts';

/** Schema of the archive file. */
const weatherDaySchema = 'almanac.archive.weather-hours/v1';

/**
 * Maximum number of series of one day. It exceeds the maximum of one file, because host and protocol may change
 * during the day.
 */
const maxDaySeries = 4 * hoursLimits.series;

/** Hourly counts and observed seconds. For an hour that was not observed, the count is null and the seconds are 0. */
export interface HourCounts {
  readonly events: (number | null)[];
  readonly observed_seconds: number[];
}

/** A period during which a weather series was not observed. */
type WeatherGap = WeatherHourSeries['gaps'][number];

/** Hourly weather of one day from one host, read with one protocol. */
export interface DaySeries extends HourCounts {
  readonly host: string;
  readonly protocol: WeatherHourSeries['wire'];
  readonly published: boolean;
  /** Time up to which each hour is counted; null for an hour that the series does not contain. */
  readonly through: (string | null)[];
  /**
   * First observation of the store that reported an hour, if the hour began before that observation; otherwise null.
   */
  readonly observed_since: (string | null)[];
  readonly collections: Partial<Record<(typeof collectionNames)[number], HourCounts>>;
  readonly gaps: readonly WeatherGap[];
  readonly gap_overflow: boolean;
}

/** Hourly weather of one day, as the instrument last reported it. */
export interface WeatherDay {
  readonly day: string;
  /** `generated_at` of the last hours file that changed the day; null if no file has changed it. */
  readonly generated_at: string | null;
  /** Reason for each hour without counts; null if the hour has counts or no reason is known. */
  readonly failures: (HoursFailure | null)[];
  readonly series: readonly DaySeries[];
}

const closed = { additionalProperties: false };
const list = <S extends Type.TSchema>(item: S) =>
  Type.Union([item, Type.Array(item, { minItems: dayHours, maxItems: dayHours })]);
const countFields = { events: list(nullable(count())), observed_seconds: list(measure()) };
const Schema = Type.Object(
  {
    schema: Type.Literal(weatherDaySchema),
    day: Type.String(),
    generated_at: nullable(usableInstant()),
    failures: list(nullable(oneOf(hoursFailures))),
    series: Type.Array(
      Type.Object(
        {
          host: Type.String({ pattern: '^[a-z0-9._:\\[\\]-]{1,300}$' }),
          protocol: oneOf(wires),
          published: Type.Boolean(),
          through: list(nullable(usableInstant())),
          observed_since: Type.Optional(list(nullable(usableInstant()))),
          ...countFields,
          collections: Type.Object(
            Object.fromEntries(collectionNames.map((name) => [name, Type.Optional(Type.Object(countFields, closed))])),
            closed,
          ),
          gaps: Type.Array(
            Type.Object(
              {
                start: usableInstant(),
                end: usableInstant(),
                reason: oneOf(weatherGapReasons),
                collection: nullable(oneOf(collectionNames)),
              },
              closed,
            ),
            { maxItems: 2 * hoursLimits.seriesGaps },
          ),
          gap_overflow: Type.Boolean(),
        },
        closed,
      ),
      { maxItems: maxDaySeries },
    ),
  },
  closed,
);
const checkSchema = check(Schema);
type Written = Type.Static<typeof Schema>;
interface WrittenCounts {
  readonly events: Packed<number | null>;
  readonly observed_seconds: Packed<number>;
}

/** Operations on the archived weather hours. */
export const weatherForm: DayForm<WeatherDay, WeatherHours> = {
  name: 'weather-hours.json',
  unknown: unknownWeather,
  parse: parseWeatherDay,
  format: formatWeatherDay,
  merge: mergeWeather,
  note: noteWeatherFailure,
};

function unknownWeather(day: string): WeatherDay {
  return { day, generated_at: null, failures: dayList(null), series: [] };
}

function formatWeatherDay({ day, generated_at, failures, series }: WeatherDay): Buffer {
  const written = {
    schema: weatherDaySchema,
    day,
    generated_at,
    failures: packed(failures),
    series: series.map(({ observed_since, ...one }) => ({
      ...one,
      through: packed(one.through),
      // Omit `observed_since` if it is null for every hour: nearly all hours begin after the store's first observation.
      ...(observed_since.some((since) => since !== null) ? { observed_since: packed(observed_since) } : {}),
      ...packedCounts(one),
      collections: Object.fromEntries(
        Object.entries(one.collections).map(([name, counts]) => [name, packedCounts(counts)]),
      ),
    })),
  };
  return Buffer.from(`${canonicalJson(written)}\n`);
}

function packedCounts({ events, observed_seconds }: HourCounts): WrittenCounts {
  return { events: packed(events), observed_seconds: packed(observed_seconds) };
}

function parseWeatherDay(bytes: Uint8Array, day: string): WeatherDay | null {
  const checked = checkSchema(parsedObject(bytes, inputLimits.hoursFile));
  if (!checked.ok || checked.value.day !== day) return null;
  const failures = unpacked<HoursFailure | null>(checked.value.failures);
  const series = checked.value.series.map(parsedSeries).filter((one) => one !== null);
  if (!failures || series.length !== checked.value.series.length) return null;
  const parsed = { day, generated_at: checked.value.generated_at, failures, series };
  return formatWeatherDay(parsed).equals(bytes) ? parsed : null;
}

function parsedSeries(written: Written['series'][number]): DaySeries | null {
  const through = unpacked<string | null>(written.through);
  const since = unpacked<string | null>(written.observed_since ?? null);
  const counts = unpackedCounts(written);
  const collections: DaySeries['collections'] = {};
  for (const name of collectionNames) {
    const own = (written.collections as Readonly<Record<string, WrittenCounts | undefined>>)[name];
    const parsed = own && unpackedCounts(own);
    if (parsed === null) return null;
    if (parsed) collections[name] = parsed;
  }
  return through && since && counts ? { ...written, through, observed_since: since, ...counts, collections } : null;
}

function unpackedCounts(written: WrittenCounts): HourCounts | null {
  const events = unpacked(written.events);
  const seconds = unpacked(written.observed_seconds);
  return events && seconds ? { events, observed_seconds: seconds } : null;
}

/**
 * Merges the hours of a file into the weather of a day; returns the same object if the file is not newer. The file of an instrument that lost its store does not erase hours before the new store's first observation. Any other
 * hour is replaced, even if the newer file reports less observed time for it. Series beyond the maximum number of a day
 * are ignored.
 */
function mergeWeather(kept: WeatherDay, file: WeatherHours): WeatherDay {
  if (kept.generated_at !== null && Date.parse(file.generated_at) <= Date.parse(kept.generated_at)) return kept;
  const series = new Map(kept.series.map((one) => [keyOf(one), one]));
  for (const own of file.series) {
    const host = URL.parse(own.endpoint)?.host ?? '';
    const key = keyOf({ host, protocol: own.wire });
    const before = series.get(key) ?? unknownSeries(host, own.wire);
    if (host === '' || (!series.has(key) && series.size >= maxDaySeries)) continue;
    const merged = mergedSeries(kept.day, before, own);
    if (merged) series.set(key, merged);
  }
  const sorted = publishedOnce(
    [...series].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
    file,
  );
  const failures = kept.failures.map((failure, place) =>
    sorted.some((one) => one.through[place] !== null) ? null : failure,
  );
  return { ...kept, generated_at: file.generated_at, failures, series: sorted };
}

/**
 * Marks one series of a day as published: the file's published series, or the previously marked one if the file's
 * series has no observation on that day. Clears all other marks, including the mark of a removed host, whose series
 * the file omits.
 */
function publishedOnce(series: readonly DaySeries[], file: WeatherHours): DaySeries[] {
  const current = file.series.find(({ published }) => published);
  const key = current && keyOf({ host: URL.parse(current.endpoint)?.host ?? '', protocol: current.wire });
  const own = series.find((one) => keyOf(one) === key);
  const isObserved = own?.observed_seconds.some((seconds) => seconds > 0) ?? false;
  if (!own || (!isObserved && series.some(({ published }) => published))) return [...series];
  return series.map((one) => ({ ...one, published: one === own }));
}

function noteWeatherFailure(kept: WeatherDay, reason: HoursFailure, now: number): WeatherDay {
  const isKnown = (place: number): boolean => kept.series.some((one) => one.through[place] !== null);
  return { ...kept, failures: notedFailures(kept.day, kept.failures, { reason, isKnown, now }) };
}

function keyOf({ host, protocol }: Pick<DaySeries, 'host' | 'protocol'>): string {
  return `${host} ${protocol}`;
}

function unknownSeries(host: string, protocol: DaySeries['protocol']): DaySeries {
  const [through, observed_since] = [dayList<string | null>(null), dayList<string | null>(null)];
  const series = { host, protocol, published: false, through, observed_since };
  return { ...series, ...unknown(), collections: {}, gaps: [], gap_overflow: false };
}

function unknown(): HourCounts {
  return { events: dayList<number | null>(null), observed_seconds: dayList(0) };
}

function mergedSeries(day: string, before: DaySeries, own: WeatherHourSeries): DaySeries | null {
  const replaced = Replacement.of(day, own.hours, (hour, place, at) => {
    const isKnown = isKnownFrom(own, at) || isSameStore(hour, own, before.observed_since[place] ?? null);
    return isKnown || hour.observed_seconds >= (before.observed_seconds[place] ?? 0);
  });
  if (replaced.isEmpty()) return null;
  const merged = (counts: HourCounts, news: HourCounts | undefined): HourCounts => ({
    events: replaced.entries(counts.events, news?.events, null),
    observed_seconds: replaced.entries(counts.observed_seconds, news?.observed_seconds, 0),
  });
  const collections: DaySeries['collections'] = {};
  for (const name of collectionNames) {
    const [known, news] = [before.collections[name], own.collections[name]];
    if (known || news) collections[name] = merged(known ?? unknown(), news);
  }
  const totals = {
    events: own.hours.map(({ events }) => events),
    observed_seconds: own.hours.map(({ observed_seconds }) => observed_seconds),
  };
  const through = own.hours.map(({ start }) => throughOf(start, own.through));
  const since = own.hours.map((hour) => sinceOf(hour, own));
  return {
    ...before,
    through: replaced.entries(before.through, through, null),
    observed_since: replaced.entries(before.observed_since, since, null),
    ...merged(before, totals),
    collections,
    gaps: replaced.gaps(
      before.gaps,
      own.gaps.map(({ start, end, reason, collection }) => ({ start, end, reason, collection })),
    ),
    gap_overflow: before.gap_overflow || own.gap_overflow,
  };
}

type WeatherHour = WeatherHourSeries['hours'][number];

/** Returns true if the instrument's store already existed when an hour of the file began. */
function isKnownFrom({ hours, observed_since }: WeatherHourSeries, at: number): boolean {
  const start = hours[at]?.start ?? '';
  if (observed_since !== undefined) return observed_since !== null && Date.parse(start) >= Date.parse(observed_since);
  // Files of earlier versions omit `observed_since`: their store may have been lost before the first observed hour.
  const first = hours.findIndex(({ observed_seconds }) => observed_seconds > 0);
  return first >= 0 && at > first;
}

function isSameStore(hour: WeatherHour, own: WeatherHourSeries, kept: string | null): boolean {
  const since = sinceOf(hour, own);
  return since !== null && since === kept;
}

/** Returns the first observation of the store if the hour began before that observation; otherwise null. */
function sinceOf({ start }: WeatherHour, { observed_since: since }: WeatherHourSeries): string | null {
  return since && Date.parse(start) < Date.parse(since) ? since : null;
}
