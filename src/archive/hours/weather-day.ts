import Type from 'typebox';
import { maxHourSeries, maxSeriesGaps, type WeatherHourSeries } from '../../artifact/hours/weather-hours.ts';
import { check, count, measure, nullable, oneOf, usableInstant } from '../../artifact/schema.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { collectionNames, weatherGapReasons, wires } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { parsedObject } from '../days/json.ts';
import { dayHours, dayList, type HoursFailure, hoursFailures, type Packed, packed, unpacked } from './hour-lists.ts';

/** Name of the archive file with the hourly weather of a day, and of the instrument's hours file. */
export const weatherHoursFile = 'weather-hours.json';
/** Schema of the archive file. */
const weatherDaySchema = 'almanac.archive.weather-hours/v1';

/**
 * Maximum number of series of one day. It exceeds the maximum of one file, because host and protocol may change
 * during the day.
 */
export const maxDaySeries = 4 * maxHourSeries;

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
          host: Type.String({ pattern: '^[a-z0-9.:\\[\\]-]{1,300}$' }),
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
            { maxItems: 2 * maxSeriesGaps },
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

/** Returns the weather of a day without data. */
export function unknownWeather(day: string): WeatherDay {
  return { day, generated_at: null, failures: dayList(null), series: [] };
}

/** Returns the bytes of the weather of a day. */
export function formatWeatherDay({ day, generated_at, failures, series }: WeatherDay): Buffer {
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

/** Parses the weather of a day; null unless the bytes are exactly those that `formatWeatherDay` returns. */
export function parseWeatherDay(bytes: Uint8Array, day: string): WeatherDay | null {
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
