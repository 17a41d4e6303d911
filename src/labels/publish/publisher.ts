import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { artifactNames, writeLines } from '../../artifact/write.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { makeFolder } from '../../ops/errors.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreReader } from '../../store/port.ts';
import { writeHeld, writeWithHold } from '../operator/hold.ts';
import { departureOf, isUnreachable, type KnownLabeler } from '../roster/known-labeler.ts';
import type { Roster } from '../roster/roster.ts';
import type { GapWriter } from '../shares/commits.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import type { Pace } from '../shares/pace.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import { type PriorityClass, type SourceState, sourceStates } from '../state/reading-state.ts';
import { type EnrolledSource, windowOf } from './coverage.ts';
import {
  closedHours,
  FilledInCounts,
  HourCounts,
  type HoursStore,
  SourceHistory,
  type SourceSample,
  sampleOf,
} from './hours/hour-counts.ts';
import { type HoursFile, makeHours, readEarlierHours } from './hours/labels-hours.ts';
import { DefinitionCache } from './labelers/definition-cache.ts';
import {
  type LabelersArtifact,
  type LabelersCache,
  type LabelersInputs,
  type Listing,
  listLabelers,
  makeLabelers,
} from './labelers/labelers-artifact.ts';
import { countByDiscoverySource, countDirectoryOnly, type ListedLabeler } from './labelers/listed-labeler.ts';
import { makeOverview, type OverviewInputs } from './overview.ts';
import { WindowReader, type WindowReading } from './window/window-reader.ts';

/** Dependencies of `createPublisher`. */
interface PublisherOptions {
  readonly settings: { readonly artifacts: string; readonly windowDays: number; readonly origin: 'live' | 'simulated' };
  readonly store: StoreReader;
  readonly roster: Roster;
  readonly cap: DailyCap;
  readonly pace: Pace;
  readonly gaps: GapWriter;
  readonly shareOf: (source: string) => ShareKey;
  /** Rejects if another process became the writer of the store: this process must then not replace the artifacts. */
  readonly assertWriter: () => Promise<void>;
  /** Returns the number of bytes that all sources together may add in a day. */
  readonly budgetBytes: () => number;
  /** Returns true if a labeler waits because the maximum number of labelers is being read. */
  readonly waits: (labeler: KnownLabeler) => boolean;
  /** Returns the reason for the current pause of acceptance, or null if acceptance is not paused. */
  readonly paused: () => string | null;
  /** Returns the number of labelers that the operator denies. */
  readonly denied: () => number;
  /** Returns the time of a labeler's denial, or null if it is unknown. */
  readonly deniedSince: (labeler: KnownLabeler) => Micros | null;
  readonly clock: () => Micros;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Writer of the label artifacts. */
interface Publisher {
  /**
   * Writes the labelers, the overview and the hours. After a failure the previous file remains in place. Begins no
   * further step once the signal aborts. Rejects only after a fatal error of the store.
   */
  publish(signal: AbortSignal): Promise<void>;
  /** Must be called after a revision of a labeler's definitions was stored. */
  definitionsChanged(did: string): void;
}

/** Creates the writer of the label artifacts. */
export function createPublisher(options: PublisherOptions): Publisher {
  const reader = new WindowReader(options.store);
  const cache: LabelersCache = { definitions: new DefinitionCache(options.store), memories: new Map() };
  const { store, clock, settings } = options;
  const hours = new HoursPublisher({ store, clock, folder: settings.artifacts, origin: settings.origin });
  return {
    publish: (signal) => publish(options, { reader, cache, hours }, signal),
    definitionsChanged: (did) => cache.definitions.changed(did),
  };
}

/** Parts of a publisher that cache data between publications. */
interface Parts {
  readonly reader: WindowReader;
  readonly cache: LabelersCache;
  readonly hours: HoursPublisher;
}

async function publish(options: PublisherOptions, { reader, cache, hours }: Parts, signal: AbortSignal): Promise<void> {
  const { settings, roster, cap, clock, log, telemetry } = options;
  try {
    await options.assertWriter();
    signal.throwIfAborted();
    await flushed(options.gaps);
    signal.throwIfAborted();
    const now = clock();
    const reading = await reader.read(now, settings.windowDays);
    await nextTurn();
    signal.throwIfAborted();
    const inputs = labelersInputs(options);
    // Read the states for the list and for the overview in the same turn, so that both count the same states.
    const listing = listLabelers(reading, inputs);
    const labelers = [...roster.labelers].filter((labeler) => !labeler.denied);
    const [waiting, enrolled] = divide(roster.enrolled(now), options.waits);
    const sources = enrolled.map(({ did, origin, tracker }): EnrolledSource => ({ did, origin, state: tracker.state }));
    const notEnrolled = labelers.length - enrolled.length - waiting.length;
    const states: OverviewInputs = {
      now,
      windowDays: settings.windowDays,
      origin: settings.origin,
      sources,
      departures: labelers.flatMap((labeler) => departureOf(labeler, windowOf(now, settings.windowDays)) ?? []),
      notEnrolled,
      unreachable: labelers.filter((labeler) => isUnreachable(labeler, now)).length,
      directoryOnly: countDirectoryOnly(enrolled),
      waiting: waiting.length,
      delayed: enrolled.filter(({ tracker }) => tracker.delayed && passing.has(tracker.state)).length,
      dropped: roster.dropped,
      denied: options.denied(),
      paused: options.paused(),
      capped: cap.pausedSources,
      dailyRows: cap.limit,
    };
    // All states for the overview are read, so the work may yield to the event loop here.
    await nextTurn();
    const overview = await makeOverview(reading, states);
    signal.throwIfAborted();
    reportPurges(telemetry, reading.purges);
    await writeLabelers(options, { listing, cache, inputs });
    signal.throwIfAborted();
    await writeHeld(settings.artifacts, artifactNames.labels, overview);
    await writeHours(options, hours, { reading, entries: listing.entries, sources: sampleOf(overview) });
    telemetry.sources(inStates(sources), {
      not_enrolled: notEnrolled,
      waiting: waiting.length,
      paused: cap.pausedSources.length,
      denied: states.denied,
    });
    telemetry.found(countByDiscoverySource(enrolled));
    telemetry.shares(throttled(options), cap.usedBytes, options.budgetBytes());
    telemetry.published(clock() / 1000);
  } catch (error) {
    if (error instanceof StoreError && error.fatal) throw error;
    if (signal.aborted) return;
    telemetry.notWritten();
    log.error('the overview could not be published', errorFields(error));
  }
}

/** Reports the purges that are not completed, and the number of days that they still have to rewrite. */
function reportPurges(
  telemetry: Telemetry,
  purges: readonly { readonly completedAt: unknown; readonly daysLeft: number }[],
): void {
  const pending = purges.filter(({ completedAt }) => completedAt === null);
  telemetry.purges(
    pending.length,
    pending.reduce((sum, { daysLeft }) => sum + daysLeft, 0),
  );
}

/** Creates the input of the labelers artifact. Logs the first error of a labeler in each publication. */
function labelersInputs({
  settings,
  roster,
  cap,
  waits,
  deniedSince,
  log,
  telemetry,
}: PublisherOptions): LabelersInputs {
  const paused = new Set(cap.pausedSources);
  let hasFailed = false;
  return {
    ...{ origin: settings.origin, labelers: roster.labelers, waits, deniedSince },
    isPaused: (did) => paused.has(did),
    failed: (did, error) => {
      telemetry.sourceFailed('listing');
      if (!hasFailed)
        log.warn('a labeler is listed without its handle or definitions', { labeler: did, ...errorFields(error) });
      hasFailed = true;
    },
  };
}

/**
 * Writes the labelers before the overview that is generated at the same time. If the write fails, the earlier files
 * remain. Readers do not combine the earlier files with the new overview.
 */
async function writeLabelers(
  { settings, log, telemetry }: PublisherOptions,
  {
    listing,
    cache,
    inputs,
  }: {
    readonly listing: Listing;
    readonly cache: LabelersCache;
    readonly inputs: LabelersInputs;
  },
): Promise<void> {
  try {
    const files = await makeLabelers(listing, cache, inputs);
    const bytes = await writeLabelersFiles(settings.artifacts, files);
    telemetry.listed(listing.entries.length, bytes);
  } catch (error) {
    if (error instanceof StoreError && error.fatal) throw error;
    telemetry.notWritten();
    log.error('the labelers artifact could not be published', errorFields(error));
  }
}

/**
 * Writes the hours after the overview that is generated at the same time. If the write fails, the earlier file remains.
 */
async function writeHours(
  { log, telemetry }: PublisherOptions,
  hours: HoursPublisher,
  publication: HoursPublication,
): Promise<void> {
  try {
    await hours.publish(publication);
  } catch (error) {
    if (error instanceof StoreError && error.fatal) throw error;
    telemetry.notWritten();
    log.error('the hours file could not be published', errorFields(error));
  }
}

/** Writes pending gaps. If the store rejects them temporarily, the overview is computed without these gaps. */
async function flushed(gaps: GapWriter): Promise<void> {
  try {
    await gaps.flush();
  } catch (error) {
    if (!(error instanceof StoreError && error.retry)) throw error;
  }
}

/** Returns the number of sources, by class, that are paused or wait because they exceeded a share or a rate. */
function throttled({ cap, pace, shareOf }: PublisherOptions): Record<PriorityClass, number> {
  const counts = { ...pace.throttled };
  for (const source of cap.pausedSources) counts[shareOf(source).priority] += 1;
  return counts;
}

/** States of a source that result from transient failures. */
const passing: ReadonlySet<SourceState> = new Set(['probing', 'unavailable']);

function divide<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function inStates(sources: readonly EnrolledSource[]): Record<SourceState, number> {
  const counts = Object.fromEntries(sourceStates.map((state) => [state, 0])) as Record<SourceState, number>;
  for (const { state } of sources) counts[state] += 1;
  return counts;
}

/** Writes both files of the artifact, each atomically, and returns the number of written bytes. */
export async function writeLabelersFiles(folder: string, files: LabelersArtifact): Promise<number> {
  makeFolder(folder);
  const bytes = await writeLines(join(folder, artifactNames.labelers), files.labelers);
  return bytes + (await writeLines(join(folder, artifactNames.labelerDefinitions), files.definitions));
}

/** Options for the publisher of the hours file. */
interface HoursPublisherOptions {
  readonly store: HoursStore;
  /** Directory of the artifacts. */
  readonly folder: string;
  readonly origin: 'live' | 'simulated';
  readonly clock: () => Micros;
}

/** Data of one publication, as of the end of the window of `reading`. */
interface HoursPublication {
  readonly reading: WindowReading;
  readonly entries: readonly ListedLabeler[];
  readonly sources: SourceSample;
}

/** Writer of the hours file. */
export class HoursPublisher {
  readonly #options: HoursPublisherOptions;
  readonly #counts: HourCounts;
  readonly #filledIn: FilledInCounts;
  readonly #sources = new SourceHistory();
  #isLoaded = false;

  constructor(options: HoursPublisherOptions) {
    this.#options = options;
    this.#counts = new HourCounts(options.store);
    this.#filledIn = new FilledInCounts(options.store);
  }

  /** Replaces the file. Rejects if the store cannot be read or the file cannot be written; the earlier file remains. */
  async publish({ reading, entries, sources }: HoursPublication): Promise<void> {
    const { epoch, frontier, window } = reading;
    await this.#loadOnce(epoch.generationId);
    this.#sources.add(sources);
    const hours = closedHours(window.end, frontier, epoch.startedAt);
    this.#sources.dropBefore(hours.start);
    const counted = await this.#counts.read(hours);
    const { origin } = this.#options;
    const parts = { counted, filledIn: this.#filledIn, sources: this.#sources };
    const file = await makeHours({ ...parts, reading, hours, entries, origin });
    await writeWithHold(this.#options.folder, (hold) => writeLines(this.#path, linesOf(file, hold)));
  }

  get #path(): string {
    return join(this.#options.folder, artifactNames.labelsHours);
  }

  /** Reads the states of earlier hours from the file that an earlier process wrote. */
  async #loadOnce(generationId: string): Promise<void> {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const earlier = await readEarlierHours(this.#path);
    if (earlier) this.#sources.load(earlier, generationId);
  }
}

/** Yields the JSON of the file, with one labeler per line. */
function* linesOf({ head, labelers }: HoursFile, hold: boolean): Generator<string> {
  yield `${JSON.stringify({ ...head, hold }).slice(0, -1)},"labelers":[`;
  for (const [at, json] of labelers.entries()) yield at === labelers.length - 1 ? json : `${json},`;
  yield ']}';
}
