import Type from 'typebox';
import { type CollectionName, collectionNames, origins, weatherGapReasons, wires } from '../../contract/vocabulary.ts';
import { isObject } from '../../input/json-budget.ts';
import { check, count, measure, nullable, oneOf, own, usableInstant } from '../../input/schema.ts';
import type { Recogniser } from '../reading.ts';
import { countFault, gapsFault, type HoursFault, hoursFault, hoursLimits, listsFault, longListFault } from './hours.ts';

/**
 * Schema `weather.hours.v1`: `weather-hours.json`, which the weather instrument writes with its summary. All times except
 * `generated_at` are of the stream's clock. Unlike published schemas, this schema is open: only named fields are read.
 */

const perHour = <S extends Type.TSchema>(item: S) => Type.Array(item, { maxItems: hoursLimits.hours });

const CollectionHours = Type.Object({
  /** Events by hour; null for an hour in which the collection was not observed. */
  events: perHour(nullable(count())),
  /** Observed seconds by hour, excluding the silences of the collection. */
  observed_seconds: perHour(measure()),
});

/** Events and observed seconds of one collection, by hour. */
type CollectionHours = Type.Static<typeof CollectionHours>;

function collections() {
  const named: Record<string, Type.TSchema> = {};
  for (const name of collectionNames) named[name] = Type.Optional(CollectionHours);
  return Type.Unsafe<Partial<Record<CollectionName, CollectionHours>>>(Type.Object(named));
}

const SeriesSchema = Type.Object({
  /** URL of the host without credentials and query, the same as in the summary. */
  endpoint: Type.String({ maxLength: 2_048 }),
  wire: oneOf(wires),
  /** True for the series of the current summary. The series of two hosts or protocols must never be added up. */
  published: Type.Boolean(),
  /** End of the last closed minute. */
  through: usableInstant(),
  /**
   * Time of the store's first observation; null if there is none. The store has no data for earlier hours, although
   * they may have been observed by a previous store that was lost. Absent in files of earlier versions.
   */
  observed_since: Type.Optional(nullable(usableInstant())),
  hours: perHour(
    Type.Object({
      start: usableInstant(),
      /** True if every minute of the hour is closed. */
      complete: Type.Boolean(),
      observed_seconds: measure(),
      /** Events of all kinds, including kinds without a collection; null if nothing was observed. */
      events: nullable(count()),
      /**
       * Events of all kinds per observed second in which 8 of 10 of the hours before this one lay that were observed
       * entirely and began at the same time of day; null if there are fewer than 7. An hour that may lack many of its
       * events, because collections were silent or history was compacted, is not one of them and has null. Absent in
       * files of earlier versions.
       */
      usual: Type.Optional(nullable(Type.Object({ low: measure(), high: measure(), days: count() }))),
    }),
  ),
  collections: collections(),
  /** Periods during which the host or one collection was not observed, sorted by start. */
  gaps: Type.Array(
    Type.Object({
      start: usableInstant(),
      end: usableInstant(),
      reason: oneOf(weatherGapReasons),
      /** Collection that was not observed; null if no collection was observed. */
      collection: nullable(oneOf(collectionNames)),
    }),
    { maxItems: hoursLimits.seriesGaps },
  ),
  /** True if gaps were merged with their nearest neighbours because their number exceeded the maximum. */
  gap_overflow: Type.Boolean(),
});

const WeatherHoursSchema = Type.Object({
  schema: Type.Literal('weather.hours.v1'),
  /** Same value as the summary's `generated_at`. */
  generated_at: usableInstant(),
  origin: Type.Optional(oneOf(origins)),
  series: Type.Array(SeriesSchema, { maxItems: hoursLimits.series }),
});

/** The hours file of the weather instrument. */
export type WeatherHours = Type.Static<typeof WeatherHoursSchema>;
/** One series of the file: one host and one protocol. */
export type WeatherHourSeries = WeatherHours['series'][number];

const checkSchema = check(WeatherHoursSchema);
const maxItems = { series: hoursLimits.series, gaps: hoursLimits.seriesGaps };

/** Detects the hours file of the weather instrument and checks it against its schema. */
export const recogniseWeatherHours: Recogniser<WeatherHours> = (value) => {
  const schema = isObject(value) ? own(value, 'schema') : undefined;
  if (schema !== 'weather.hours.v1') return { kind: 'unknown_schema', why: 'this is not a weather hours file' };
  const long = longListFault(value, maxItems);
  if (long) return { kind: 'malformed', schema, ...long };
  const checked = checkSchema(value);
  if (!checked.ok) return { kind: 'malformed', schema, pointer: checked.pointer, why: checked.why };
  const fault = seriesFault(checked.value.series);
  return fault ? { kind: 'malformed', schema, ...fault } : { kind: 'recognised', artifact: checked.value };
};

function seriesFault(all: readonly WeatherHourSeries[]): HoursFault | null {
  for (const [at, series] of all.entries()) {
    const pointer = `/series/${at}`;
    const fault =
      hoursFault(series.hours, series.through, pointer) ??
      totalsFault(series, pointer) ??
      collectionsFault(series, pointer) ??
      gapsFault(series.gaps, `${pointer}/gaps`);
    if (fault) return fault;
  }
  return null;
}

function totalsFault({ hours }: WeatherHourSeries, pointer: string): HoursFault | null {
  for (const [at, { events, observed_seconds }] of hours.entries()) {
    const fault = countFault(events, observed_seconds, `${pointer}/hours/${at}/events`);
    if (fault) return fault;
  }
  return null;
}

function collectionsFault({ hours, collections: all }: WeatherHourSeries, pointer: string): HoursFault | null {
  for (const [name, { events, observed_seconds }] of Object.entries(all)) {
    const fault = listsFault({ counts: { events }, observed_seconds }, hours.length, `${pointer}/collections/${name}`);
    if (fault) return fault;
  }
  return null;
}
