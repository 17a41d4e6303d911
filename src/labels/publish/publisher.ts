import { setImmediate as nextTurn } from 'node:timers/promises';
import { artifactNames } from '../../artifact/write.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoredGap, StoreReader } from '../../store/port.ts';
import { writeHeld } from '../operator/hold.ts';
import { departureOf, isUnreachable, type KnownLabeler } from '../roster/known-labeler.ts';
import type { Roster } from '../roster/roster.ts';
import type { GapWriter } from '../shares/commits.ts';
import type { CapReason, DailyCap } from '../shares/daily-cap.ts';
import type { Pace } from '../shares/pace.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import { type PriorityClass, type SourceState, sourceStates } from '../state/reading-state.ts';
import { type EnrolledSource, windowOf } from './coverage.ts';
import { sampleOf } from './hours/hour-counts.ts';
import { HoursPublisher } from './hours/labels-hours.ts';
import { DefinitionCache } from './labelers/definition-cache.ts';
import {
  type LabelersCache,
  type LabelersInputs,
  listLabelers,
  makeLabelers,
  writeLabelersFiles,
} from './labelers/labelers-artifact.ts';
import { countByDiscoverySource, countDirectoryOnly } from './labelers/listed-labeler.ts';
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
  const { settings, clock, log, telemetry } = options;
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
    const { states, enrolled } = statesFor(options, reading, now);
    // All states for the overview are read, so the work may yield to the event loop here.
    await nextTurn();
    const overview = await makeOverview(reading, states);
    signal.throwIfAborted();
    reportPurges(telemetry, reading.purges);
    // Write the labelers before the overview of the same time; readers do not combine earlier labelers with it.
    await attempt(options, signal, 'the labelers artifact could not be published', async () => {
      const files = await makeLabelers(listing, cache, inputs);
      telemetry.listed(listing.entries.length, await writeLabelersFiles(settings.artifacts, files));
    });
    signal.throwIfAborted();
    await writeHeld(settings.artifacts, artifactNames.labels, overview);
    signal.throwIfAborted();
    await attempt(options, signal, 'the hours file could not be published', () =>
      hours.publish({ reading, entries: listing.all, sources: sampleOf(overview) }),
    );
    reportSources(options, states, enrolled);
    telemetry.published(clock() / 1000);
  } catch (error) {
    if (error instanceof StoreError && error.fatal) throw error;
    if (signal.aborted) return;
    telemetry.notWritten();
    log.error('the overview could not be published', errorFields(error));
  }
}

/** Reads the states for the overview, and returns the enrolled labelers with them. */
function statesFor(
  options: PublisherOptions,
  reading: WindowReading,
  now: Micros,
): { readonly states: OverviewInputs; readonly enrolled: readonly KnownLabeler[] } {
  const { settings, roster, cap } = options;
  const labelers = [...roster.labelers].filter((labeler) => !labeler.denied);
  const window = windowOf(now, settings.windowDays);
  // A labeler that waits is not contacted, so it counts as waiting even after its trial has ended.
  const [waiting, others] = divide(labelers, options.waits);
  const enrolled = roster.enrolled(now).filter((labeler) => !options.waits(labeler));
  const sources = enrolled.map(sourceOf);
  const notEnrolled = others.length - enrolled.length;
  const states: OverviewInputs = {
    now,
    windowDays: settings.windowDays,
    origin: settings.origin,
    sources,
    departures: [
      ...labelers.flatMap((labeler) => departureOf(labeler, window, options.waits(labeler)) ?? []),
      ...evictedGaps(reading, roster),
    ],
    notEnrolled,
    unreachable: others.filter((labeler) => isUnreachable(labeler, now)).length,
    directoryOnly: countDirectoryOnly(enrolled),
    waiting: waiting.length,
    delayed: enrolled.filter(({ tracker }) => tracker.delayed && passing.has(tracker.state)).length,
    dropped: roster.dropped,
    denied: options.denied(),
    paused: options.paused(),
    capped: pauses(cap),
    dailyRows: cap.limit,
  };
  return { states, enrolled };
}

/**
 * Returns a gap since the last row for each labeler that has counted events and was evicted from the roster, until the
 * labeler is found again and responds.
 */
function evictedGaps({ inWindow, lastRows, window }: WindowReading, roster: Pick<Roster, 'labeler'>): StoredGap[] {
  return inWindow.counts.flatMap(({ labeler: source }): StoredGap[] => {
    const known = roster.labeler(source);
    if (known !== undefined && (known.denied || known.tracker.tracked.lastAnswered !== null)) return [];
    const { start, end } = window;
    return [{ source, start: lastRows.get(source) ?? start, end, reason: 'source_unavailable' }];
  });
}

function sourceOf({ did, origin, tracker }: KnownLabeler): EnrolledSource {
  return { did, origin, state: tracker.state, answered: tracker.tracked.lastAnswered !== null };
}

/** Returns the reasons of the sources that are currently paused, by DID. */
function pauses(cap: DailyCap): Map<string, CapReason> {
  const reasons = new Map<string, CapReason>();
  for (const did of cap.pausedSources) {
    const reason = cap.reasonOf(did);
    if (reason !== null) reasons.set(did, reason);
  }
  return reasons;
}

/** Reports the numbers of labelers and the shares that are used. */
function reportSources(options: PublisherOptions, states: OverviewInputs, enrolled: readonly KnownLabeler[]): void {
  const { telemetry, cap } = options;
  const { sources, notEnrolled, waiting, denied } = states;
  const others = { not_enrolled: notEnrolled, waiting, paused: cap.pausedSources.length, denied };
  telemetry.sources(inStates(sources), others);
  telemetry.found(countByDiscoverySource(enrolled));
  telemetry.shares(throttled(options), cap.usedBytes, options.budgetBytes());
}

/** Reports the purges that are not completed, and the sum of their days from the first unprocessed one onwards. */
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
  const paused = pauses(cap);
  let hasFailed = false;
  return {
    ...{ origin: settings.origin, labelers: roster.labelers, waits, deniedSince },
    pauseOf: (did) => paused.get(did) ?? null,
    failed: (did, error) => {
      telemetry.sourceFailed('listing');
      if (!hasFailed)
        log.warn('a labeler is listed without its handle or definitions', { labeler: did, ...errorFields(error) });
      hasFailed = true;
    },
  };
}

/**
 * Writes one artifact. If that fails, logs `message`, and the earlier file of the artifact remains. A failure after the
 * signal has aborted ends the publication, because the store may be closed.
 */
async function attempt(
  { log, telemetry }: PublisherOptions,
  signal: AbortSignal,
  message: string,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (signal.aborted || (error instanceof StoreError && error.fatal)) throw error;
    telemetry.notWritten();
    log.error(message, errorFields(error));
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
function throttled({ cap, pace }: PublisherOptions): Record<PriorityClass, number> {
  const counts = { ...pace.throttled };
  for (const source of cap.pausedSources) counts[cap.classOf(source)] += 1;
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
