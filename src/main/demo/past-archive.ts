import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Archiver, type ArchiverOptions } from '../../archive/archiver.ts';
import { dayMs, hourMs, isDay } from '../../archive/days/calendar.ts';
import { formatIssues, issuesFile } from '../../archive/days/known-issues.ts';
import type { FetchedFact } from '../../archive/fetch-fact.ts';
import type { ArchiveFiles } from '../../archive/files/archive-files.ts';
import type { HoursReading } from '../../archive/hours/hour-lists.ts';
import { openLogWithKeyFile } from '../../archive/log/day-log.ts';
import { decodeHours } from '../../artifact/hours/hours.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours, type WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { type ArtifactSource, decodeArtifact, type Reading } from '../../artifact/reading.ts';
import {
  type LabelArtifact,
  recogniseLabels,
  recogniseWeather,
  type WeatherArtifact,
} from '../../artifact/recognise.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import { createFactsApp } from '../../facts/app.ts';
import type { HeaderList } from '../../http/reply.ts';
import { PastInstrument } from '../../labels/publish/past-instrument.ts';
import { makeFolder } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import { openStoreReader } from '../../store/open.ts';
import { micros } from '../../store/time.ts';
import { createHoursReader } from '../../weather/publish/hours.ts';
import { createSeriesReader } from '../../weather/publish/read-summary.ts';
import { openWindowStore, type WindowStore } from '../../weather/window/window-store.ts';
import { hoursReadingOf, lockArchive } from '../archive/archive-process.ts';
import { findIdentity, findIdentityIn } from '../archived-identity.ts';
import { factsSettings } from '../facts/facts-settings.ts';
import { labelStoreIn } from '../shared-settings.ts';

/** Number of days before today that the archive contains. The two newest of them are open. */
const pastDays = 10;
/**
 * Delay after the start of an hour at which its facts are archived, in milliseconds. After this delay, the hours
 * files include the previous hour.
 */
const afterHourMs = 90_000;
/** Name of the log of closed days, which its checkpoints contain. */
const logName = 'almanac-demo-simulated';

/** Options for archiving a simulated past. */
interface PastArchive {
  /** Directory of the demo, which contains the label store of the whole past. */
  readonly data: string;
  /** Directory that contains a copy of the weather store. */
  readonly scratch: string;
  /** Directory to create for the archive. It must not exist yet. */
  readonly archive: string;
  /** Endpoint of the simulated host, in the form that the weather instrument stores. */
  readonly endpoint: string;
  /** End of the past, in microseconds since 1970. From this time on, the instruments observe. */
  readonly endUs: number;
  /** Called once the first hour is archived; the archive can then be shown. */
  readonly begun: () => void;
}

/**
 * Archives the simulated past as a running archiver would have done: hour by hour, with the facts, hours files and
 * gaps as of each hour. The demo's own archiver archives the present hour and continues with the same key.
 */
export async function writePastArchive(past: PastArchive): Promise<void> {
  const { data, scratch, archive, endpoint, endUs, begun } = past;
  makeFolder(archive);
  const locked = lockArchive(archive);
  const store = await openStoreReader(labelStoreIn(data));
  const windows = openWindowStore(scratch);
  try {
    const hours = hoursUntil(endUs / 1000);
    const files = heldFiles(locked.files);
    files.replace(issuesFile, simulatedIssue(hours[0] ?? endUs / 1000));
    const observatory = pastObservatory(await PastInstrument.open(store), pastWeatherInstrument(windows, endpoint));
    const archiver = openArchiver(archive, files, observatory);
    for (const [place, now] of hours.entries()) {
      await observatory.advance(now);
      await archiver.tick();
      if (place % 24 === 0 || place === hours.length - 1) {
        files.flush();
        begun();
      }
      await nextTurn();
    }
  } finally {
    windows.close();
    await store.close();
    locked.release();
  }
}

/** The simulated observatory at one time in the past, as an archiver would have seen it at that time. */
interface PastObservatory extends Pick<ArchiverOptions, 'clock' | 'fetchFact' | 'readHours'> {
  /** Sets the clock to `now`, in milliseconds since 1970, and publishes the artifacts of that time. */
  advance(now: number): Promise<void>;
}

function pastObservatory(instrument: PastInstrument, weatherAt: (now: number) => PastWeather): PastObservatory {
  let shown: { readonly now: number; readonly labels: PastLabels; readonly weather: PastWeather } | null = null;
  const current = () => {
    if (shown === null) throw new Error('the demo has no facts to archive');
    return shown;
  };
  const facts = pastFacts(() => ({ labels: current().labels.overview, weather: current().weather.summary }));
  return {
    clock: () => current().now,
    fetchFact: (path) => Promise.resolve(facts(path, current().now)),
    readHours: () => ({ weather: current().weather.hours, labels: current().labels.hours }),
    async advance(now) {
      shown = { now, labels: await labelsAt(instrument, now), weather: weatherAt(now) };
    },
  };
}

/** Returns the times at which the hours before `end` are archived, in milliseconds since 1970. */
function hoursUntil(end: number): number[] {
  const present = end - (end % hourMs);
  const first = end - (end % dayMs) - pastDays * dayMs;
  return Array.from({ length: (present - first) / hourMs }, (_, hour) => first + hour * hourMs + afterHourMs);
}

/**
 * Returns the list of known issues. Every day and its gap manifest repeat the list, so that a copied file still states
 * that it is simulated.
 */
function simulatedIssue(from: number): Buffer {
  const start = formatTimestamp(Math.floor(from / hourMs) * hourMs);
  const summary = 'Simulated by the demo: every value of this archive comes from a simulated network.';
  return formatIssues([{ id: 'simulated', reported_at: start, source: 'archive', start, end: null, summary }]);
}

function openArchiver(
  archive: string,
  files: ArchiveFiles,
  { clock, fetchFact, readHours }: PastObservatory,
): Archiver {
  const path = `${resolve(archive)}.key`;
  return new Archiver({
    ...{ files, clock, fetchFact, readHours, findIdentity, findIdentityIn },
    dayLog: openLogWithKeyFile({ files, path, name: logName, random: randomBytes }),
    random: () => 0,
    log: createLog('archive', 'warn'),
  });
}

/** The artifacts of both instruments at one time in the past. */
interface PastArtifacts {
  readonly labels: Reading<LabelArtifact>;
  readonly weather: Reading<WeatherArtifact>;
}

/**
 * Returns a function that responds to a path as the facts API would have responded at the time `now`, in milliseconds
 * since 1970. `read` returns the artifacts of that time. The function throws if a response cannot be built.
 */
function pastFacts(read: () => PastArtifacts): (path: string, now: number) => FetchedFact {
  const maxAgeSeconds = factsSettings.maxAgeSeconds.fallback;
  const answer = createFactsApp({
    labels: sourceOf(() => read().labels),
    weather: sourceOf(() => read().weather),
    bounds: { maxAgeSeconds, collectionMaxAgeSeconds: maxAgeSeconds },
    basePath: '',
    documents: { routes: [], answer: () => null },
    alarm: (path, error) => {
      throw new Error(`the past response for ${path} could not be built`, { cause: error });
    },
  });
  return (target, now) => {
    const request = { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined };
    const { status, headers, body } = answer(request, now);
    const [etag, lastModified] = ['ETag', 'Last-Modified'].map((name) => headerOf(headers, name));
    const served = { status, body: body ?? Buffer.alloc(0), etag: etag ?? null, lastModified: lastModified ?? null };
    return { kind: 'response', served, date: now };
  };
}

function sourceOf<A>(read: () => Reading<A>): ArtifactSource<A> {
  return { read, start: () => Promise.resolve(), stop: () => Promise.resolve() };
}

function headerOf(headers: HeaderList, name: string): string | null {
  const at = headers.findIndex((text, place) => place % 2 === 0 && text.toLowerCase() === name.toLowerCase());
  return at < 0 ? null : (headers[at + 1] ?? null);
}

/** The files that the weather instrument publishes at one time in the past. */
interface PastWeather {
  readonly summary: Reading<WeatherArtifact>;
  readonly hours: HoursReading<WeatherHours>;
}

/**
 * Returns a function that creates the weather instrument's files for the time `now` of the simulated past, in
 * milliseconds since 1970. The function reads the store as the instrument does. The store must extend beyond `now`.
 */
function pastWeatherInstrument(store: WindowStore, name: string): (now: number) => PastWeather {
  const series = createSeriesReader();
  const hours = createHoursReader();
  const endpoint = { name, wire: 'jetstream.legacy' } as const;
  const origin = 'simulated';
  return (now) => {
    const nowUs = now * 1000;
    const { summary } = series.read({ store, endpoint, origin, nowUs });
    const read = hours.read({ store, endpoints: [endpoint], published: name, origin, nowUs });
    return {
      summary: decodeArtifact(bytesOf(summary), now, recogniseWeather),
      hours: hoursReadingOf(decodeHours(bytesOf(read), recogniseWeatherHours, now)),
    };
  };
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Files of an archive whose changes are held in memory. */
interface HeldFiles extends ArchiveFiles {
  /** Writes the changed files, in the order in which they last changed, so that an index never names a missing file. */
  flush(): void;
}

/**
 * Returns archive files that are read and changed in memory until `flush`. This saves time: an archiver that archives
 * many hours in a row replaces the same files repeatedly, and each durable write would wait for the disk. The archive
 * must not contain any other files.
 */
export function heldFiles(files: ArchiveFiles): HeldFiles {
  const held = new Map<string, Buffer | null>();
  const changed = new Set<string>();
  const read = (path: string): Buffer | null => held.get(path) ?? null;
  const hold = (path: string, bytes: Buffer | null): void => {
    held.set(path, bytes);
    changed.delete(path);
    changed.add(path);
  };
  return {
    read,
    append: (path, line) => hold(path, Buffer.concat([read(path) ?? Buffer.alloc(0), line])),
    // Nothing needs repair, because no line in memory can be partially appended.
    repair: () => undefined,
    replace: (path, bytes) => hold(path, Buffer.from(bytes)),
    remove: (path) => hold(path, null),
    days: () => [...new Set([...held.keys()].map((path) => path.split('/')[1] ?? ''))].filter(isDay).sort(),
    flush() {
      for (const path of changed) {
        const bytes = read(path);
        if (bytes === null) files.remove(path);
        else files.replace(path, bytes);
      }
      changed.clear();
    },
  };
}

/** The files that the label instrument publishes at one time in the past. */
interface PastLabels {
  readonly overview: Reading<LabelArtifact>;
  readonly hours: HoursReading<LabelsHours>;
}

/** Reads what the label instrument publishes at the time `now`, in milliseconds since 1970. */
async function labelsAt(instrument: PastInstrument, now: number): Promise<PastLabels> {
  const { overview, hours } = await instrument.at(micros(now * 1000));
  return {
    overview: decodeArtifact(bytesOf(overview), now, recogniseLabels),
    hours: hoursReadingOf(decodeHours(bytesOf(hours), recogniseLabelsHours, now)),
  };
}
