import { basename } from 'node:path';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { WeatherSummary } from '../../artifact/recognise.ts';
import { writeArtifact } from '../../artifact/write.ts';
import { type CollectionName, collectionNames, type Origin } from '../../contract/vocabulary.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { type CollectionTime, collectionTimes, type EarlierPause, findSilences } from '../silence/silence.ts';
import { storedUsual, type Usual } from '../silence/usual.ts';
import type { WeatherTelemetry } from '../stream/telemetry.ts';
import type { Endpoint } from '../window/endpoint.ts';
import { type Silence, type StoredSeries, storeFault } from '../window/store-schema.ts';
import {
  dayUs,
  futureUs,
  type Interval,
  minutes,
  union,
  windowStart,
  windowsPerDay,
  windowUs,
} from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { seriesConditions } from './conditions.ts';
import { summarise } from './summary.ts';

/** Input for reading a series and its summary. */
interface SummarySource {
  readonly store: WindowStore;
  readonly endpoint: Pick<Endpoint, 'name' | 'wire'>;
  readonly origin: Origin;
  /** Time of this machine's wall clock, in microseconds. */
  readonly nowUs: number;
  /** Additional caveats of the summary that do not derive from the counts. */
  readonly caveats?: readonly string[];
  /** Usual counts of the series. If absent, they are read from the store. */
  readonly usual?: Usual;
}

/** Result of reading a series at one time. */
export interface SeriesReading {
  readonly summary: WeatherSummary;
  /** Span of the closed windows that were read, on the stream's clock. */
  readonly span: Interval;
  /** Silences that overlap `span`. */
  readonly silences: readonly Silence[];
  /**
   * Start of the silence of collections that make up more than 5 % of the interactions, in microseconds, or null if
   * there is no such silence.
   */
  readonly silentSinceUs: number | null;
  /** Latest end of a silence of such collections within `span`, in microseconds, or null if there is none. */
  readonly silentUntilUs: number | null;
}

/**
 * Returns the end of the newest closed window. A window is closed once the stream has passed its end, or once the wall
 * clock has passed its end by a whole window. Events that a later resume delivers are included in later readings. A
 * position that is further ahead of the clock than any accepted event closes no window, because one of the two clocks
 * must be wrong.
 */
export function closedEnd(positionUs: number | null, nowUs: number): number {
  if (positionUs !== null && positionUs > nowUs + futureUs) return closedEnd(null, nowUs);
  return Math.max(positionUs === null ? 0 : windowStart(positionUs), windowStart(nowUs - windowUs));
}

/** Reads the summary of the 24 hours up to the end of the newest closed window. */
export function readSummary(source: SummarySource): WeatherSummary {
  return readSeries(source).summary;
}

/**
 * Reads the 24 hours up to the end of the newest closed window. The cost does not depend on the size of the store,
 * except for a collection whose last event is older.
 */
function readSeries(source: SummarySource): SeriesReading {
  const { store, endpoint, origin, nowUs, caveats } = source;
  const series = store.series(endpoint.name);
  const end = closedEnd(series.live?.timeUs ?? null, nowUs);
  const span = { from: end - dayUs, to: end };
  const observed = union(store.observed(series.id, span));
  const rows = store.windows(series.id, span, collectionNames);
  const day = minutes(rows, observed, span.from, windowsPerDay, collectionNames.length);
  const usual = source.usual ?? storedUsual(store, series.id);
  const countedSince = store.countedSince(series.id);
  const silences = findSilences({
    minutes: day,
    usual,
    edges: (startUs, collection) => store.edges(series.id, startUs, collection),
    standing: standingSilences(store, series, span),
    countedSince,
    earlier: (collection) => earlierPause(store, series, span.from, collection),
  });
  const times = collectionTimes(day, observed, silences, countedSince);
  const { conditions, silentSinceUs, silentUntilUs } = seriesConditions({
    store,
    series: series.id,
    minutes: day,
    times,
    silences,
    usual,
    nowUs,
  });
  const summary = summarise({
    endpoint: endpoint.name,
    wire: endpoint.wire,
    caveats: caveats ?? [],
    origin,
    nowUs,
    minutes: day,
    observed,
    silences,
    times,
    countedSince,
    unseen: unseenCollections(store, series.id, times),
    conditions,
  });
  return { summary, span, silences, silentSinceUs, silentUntilUs };
}

/**
 * Returns the silences known at the start of a span or within it. A silence whose stored end is older than the span,
 * because nothing was read for a day, continues up to the next event. It does not continue while a replay of the time
 * before the span may still add that event.
 */
function standingSilences(store: WindowStore, series: StoredSeries, span: Interval): Silence[] {
  const { id } = series;
  const stored = store.silences(id, span);
  if (isReplayed(series, span.from)) return stored;
  const lasting = store.lastingSilences(id, span.from).map((silence) => ({ ...silence, to: span.to }));
  return [...lasting, ...stored];
}

/** Returns true if a replay of the time before `beforeUs` may still add events. */
function isReplayed({ live, backfill }: StoredSeries, beforeUs: number): boolean {
  return [live, backfill?.position].some((position) => (position?.timeUs ?? beforeUs) < beforeUs);
}

/** Returns the time before `toUs` since the last event of a collection, or null if that event is not certain. */
function earlierPause(
  store: WindowStore,
  series: StoredSeries,
  toUs: number,
  collection: CollectionName,
): EarlierPause | null {
  const { id } = series;
  const lastEventUs = isReplayed(series, toUs) ? null : store.lastEvent(id, toUs, collection);
  if (lastEventUs === null) return null;
  const span = { from: lastEventUs + windowUs, to: toUs };
  const windows = (span.to - span.from) / windowUs;
  return {
    lastEventUs,
    minutes: () =>
      minutes(
        store.windows(id, span, collectionNames),
        union(store.observed(id, span)),
        span.from,
        windows,
        collectionNames.length,
      ),
  };
}

/** Returns the collections of which the series has had no event. */
function unseenCollections(store: WindowStore, series: number, times: readonly CollectionTime[]): Set<CollectionName> {
  return new Set(
    collectionNames.filter((name, place) => (times[place]?.total ?? 0) === 0 && !store.hasEvents(series, name)),
  );
}

/** Reads series. Remembers their usual counts, and stores the silences that it finds. */
export interface SeriesReader {
  read(source: Omit<SummarySource, 'usual'>): SeriesReading;
  /** Returns the stored silences that overlap the span, and those of the last reading if the disk did not store them. */
  silences(store: WindowStore, series: number, span: Interval): readonly Silence[];
}

/**
 * Creates a series reader. It reads the usual counts of each hour only once a day, because reading all hours takes up
 * to a second.
 */
export function createSeriesReader(): SeriesReader {
  const known = new Map<number, { readonly day: number; readonly usual: Usual }>();
  const unstored = new Map<number, SeriesReading>();
  return {
    silences: (store, series, span) => {
      const stored = store.silences(series, span);
      const reading = unstored.get(series);
      if (!reading) return stored;
      const { from, to } = reading.span;
      const starts = new Set(reading.silences.map((silence) => `${silence.collection} ${silence.from}`));
      // The reading replaces the same silences as `keepSilences` would.
      const others = stored.filter((silence) => {
        return (silence.from >= to || silence.to <= from) && !starts.has(`${silence.collection} ${silence.from}`);
      });
      return [...others, ...reading.silences];
    },
    read: (source) => {
      const { store, endpoint, nowUs } = source;
      const { id } = store.series(endpoint.name);
      const day = Math.floor(nowUs / dayUs);
      const before = known.get(id);
      const usual = before?.day === day ? before.usual : storedUsual(store, id);
      known.set(id, { day, usual });
      const reading = readSeries({ ...source, usual });
      if (keep(source, id, reading)) unstored.delete(id);
      else unstored.set(id, reading);
      return reading;
    },
  };
}

/**
 * Stores silences. Returns false if the disk is full. The stored silences are required for the baselines of later days,
 * and for reading a span that begins during a silence, or too shortly before it to prove it.
 */
function keep({ store }: Pick<SummarySource, 'store'>, series: number, { span, silences }: SeriesReading): boolean {
  if (silences.length === 0 && store.silences(series, span).length === 0) return true;
  try {
    store.keepSilences(series, span, silences);
  } catch (error) {
    // Ignore a full disk, because the next call of `read` finds the silences again.
    if (storeFault(error) !== 'full') throw error;
    return false;
  }
  return true;
}

/**
 * Delay of an artifact after a window has closed, in milliseconds. One artifact covers all windows that close during
 * the delay.
 */
const minIntervalMs = 1000;

/** Options for the publisher. */
interface PublisherOptions {
  readonly path: string;
  readonly hoursPath: string;
  readonly publishMs: number;
  /** Reads the summary. */
  readonly read: () => WeatherSummary;
  /** Reads the content of the hours file for the time of the last summary. */
  readonly readHours: () => WeatherHours;
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Called if reading the store failed, unless the disk refused it, so that a later attempt may succeed. */
  readonly failed: (error: unknown) => void;
}

/**
 * Writes the summary and the hours file, at fixed intervals and soon after windows have closed. Never writes two
 * artifacts concurrently.
 */
export interface Publisher {
  /**
   * Writes the summary and the hours file after any pending write. Never rejects: a failed reading is passed to
   * `failed`. If the disk refuses a read or a write, the last good file stays in place.
   */
  now(): Promise<void>;
  /** Schedules a write after a short delay, unless one is already scheduled. */
  soon(): void;
  start(): void;
  /** Stops the schedule, and waits for the pending write. */
  stop(): Promise<void>;
}

/** Creates a publisher. `start` begins the writing at fixed intervals; `now` and `soon` also work without it. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { path, hoursPath, publishMs, read, readHours, clock, telemetry, failed } = options;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let soonTimer: NodeJS.Timeout | null = null;

  async function write(): Promise<void> {
    // The store may change while a file is written, but both files must have the same end and the same silences.
    const [summary, hours] = [made(path, read), made(hoursPath, readHours)];
    if (await replaced(path, summary)) telemetry.published(clock());
    await replaced(hoursPath, hours);
  }

  /** Returns the content of a file, or null if it could not be read from the store. */
  function made(file: string, make: () => object): object | null {
    try {
      return make();
    } catch (error) {
      if (storeFault(error) === 'full') reportNotWritten(options, file, error);
      else failed(error);
      return null;
    }
  }

  /** Replaces a file. Returns false if there is no content, or the file could not be written. */
  async function replaced(file: string, content: object | null): Promise<boolean> {
    if (content === null) return false;
    try {
      await writeArtifact(file, content);
      return true;
    } catch (error) {
      reportNotWritten(options, file, error);
      return false;
    }
  }

  const now = (): Promise<void> => {
    writing = writing.then(write);
    return writing;
  };
  return {
    now,
    soon: () => {
      soonTimer ??= setTimeout(() => {
        soonTimer = null;
        void now();
      }, minIntervalMs);
    },
    start: () => {
      timer = setInterval(() => void now(), publishMs);
    },
    stop: async () => {
      if (timer) clearInterval(timer);
      if (soonTimer) clearTimeout(soonTimer);
      await writing;
    },
  };
}

function reportNotWritten({ telemetry, log }: PublisherOptions, file: string, error: unknown): void {
  telemetry.notWritten('artifact');
  log.error('the artifact could not be written; the previous artifact remains in place', {
    file: basename(file),
    ...errorFields(error),
  });
}
