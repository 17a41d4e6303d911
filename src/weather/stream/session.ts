import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { errorFields, type Log } from '../../ops/log.ts';
import { createClassifier } from '../classify/classify.ts';
import { createEventsClassifier, ResyncMemory } from '../classify/classify-events.ts';

import { isUsable, type Position } from '../position/position.ts';
import { type StoredBackfill, type StoredSeries, storeFault } from '../window/store-schema.ts';
import { Track, type TrackGain } from '../window/track.ts';
import { futureUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { type ReaderContext, type ReaderTask, runReader } from './reader.ts';
import type { WeatherTelemetry } from './telemetry.ts';

/** Settings of the sessions of one host. */
interface SessionsOptions extends SessionOptions {
  /** Interval between attempts to write while the disk is full, in milliseconds. */
  readonly probeMs: number;
  /** Called when a session has ended because the disk is full. */
  readonly notWritten: () => void;
}

/**
 * Runs consecutive sessions until the signal aborts. A session ends when the disk is full. The next session then reads
 * the uncommitted events again from the stored position. Rejects with any error other than a full disk.
 */
export async function runSessions(options: SessionsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await runSession(options, signal);
    } catch (error) {
      if (storeFault(error) !== 'full') throw error;
      options.notWritten();
      options.log.error(
        'the weather store cannot be written: events are not counted until a write succeeds',
        errorFields(error),
      );
      await untilWritable(options, signal);
    }
  }
}

async function untilWritable({ store, log, probeMs }: SessionsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await wait(probeMs, undefined, { signal }).catch(() => undefined);
    try {
      store.probe();
      log.info('the weather store can be written again');
      return;
    } catch (error) {
      if (storeFault(error) !== 'full') throw error;
    }
  }
}

const hourUs = 3_600_000_000;
/** Age up to which a position is always resumed, in microseconds, even if `backfillHours` is less. */
const alwaysResumedUs = 15 * 60_000_000;
/**
 * Number of consecutive resumed connections without new events after which the next connection begins at the present,
 * because the cursor may be the cause.
 */
const fruitlessResumes = 3;
/** Number of consecutive connections without new events after which a backfill ends. The remaining time stays a gap. */
const fruitlessBackfills = 5;
/**
 * Minimum silence that ends a connection of a backfill, in microseconds. It is long, because a replay may begin late.
 */
const backfillSilenceUs = 30_000_000;
/**
 * Maximum age of an event from a live host, in microseconds. If the oldest position that may be resumed is older, its
 * age is the maximum instead.
 */
const oldestLiveUs = 24 * hourUs;

/**
 * Overlap that a new session or backfill reads before its position, in sequence numbers, or in microseconds if events
 * have no numbers. After a `sync`, a host with `subscribeEvents` repeats the repository as unmarked creates, which
 * only the account and time of the `sync` identify. The overlap must therefore reach back to each `sync` whose
 * repeats are still arriving.
 */
const overlap = { seq: 20_000, time: 60_000_000 } as const;
/**
 * Overlap with the legacy protocol, in sequence numbers. If the host has a new numbering, a number before the position
 * has a later time than the position. The number of the position itself may have been compacted.
 */
const legacyOverlap = { seq: 1_000, time: 0 } as const;

/**
 * Overlap of a connection after the first, in sequence numbers. A host that was killed uses the numbers of the events
 * that it lost again, and the event that now has the number of the position may be one that it does not send.
 */
const reconnectOverlap = { seq: 100, time: 0 } as const;

/** Dependencies and settings of a session. */
interface SessionOptions extends Omit<ReaderContext, 'classifier'> {
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly store: WindowStore;
  /** Length of a backfill in hours, or 0 for no backfill. */
  readonly backfillHours: number;
  /** Maximum size of one backfill, in bytes. */
  readonly backfillBytes: number;
  readonly commitMs: number;
  /** Called after each commit, which may close windows. */
  readonly committed: () => void;
}

/**
 * Runs a session from the stored positions until the signal aborts or a commit fails. A session has one live reader and
 * at most one backfill, and commits the results of both together. If a commit fails, rejects with the store's error and
 * discards uncommitted results.
 */
function runSession(options: SessionOptions, signal: AbortSignal): Promise<void> {
  return new Session(options, signal).run();
}

interface RunningBackfill {
  readonly track: Track;
  readonly plan: StoredBackfill;
  bytes: number;
  over: boolean;
  readonly stop: AbortController;
}

class Session {
  readonly #options: SessionOptions;
  readonly #context: ReaderContext;
  /** True for `subscribeEvents`, false for the legacy protocol. */
  readonly #isPresent: boolean;
  readonly #stored: StoredSeries;
  readonly #live: Track;
  readonly #stop = new AbortController();
  readonly #stopped: AbortSignal;
  readonly #failed = Promise.withResolvers<never>();
  readonly #backfills: Promise<void>[] = [];
  #revision: number;
  #isOver = false;
  #backfill: RunningBackfill | null = null;
  /**
   * Time of the host's last response that it is downloading the repositories, in microseconds, until a later event was
   * read; then null. Everything that the host has received by then is a copy of the repositories, in unmarked creates
   * with the times of the download.
   */
  #downloadingUs: number | null = null;
  /** Position before the last live start, from which the backfill begins. */
  #beforeLive: Position | null;

  constructor(options: SessionOptions, signal: AbortSignal) {
    const { store, endpoint, backfillHours } = options;
    this.#options = options;
    this.#isPresent = endpoint.wire === 'jetstream.subscribeEvents';
    const memory = new ResyncMemory(Math.floor(options.random() * 2 ** 32));
    this.#context = {
      ...options,
      classifier: this.#isPresent ? () => createEventsClassifier(memory) : createClassifier,
    };
    this.#stopped = AbortSignal.any([signal, this.#stop.signal]);
    this.#stored = store.series(endpoint.name);
    this.#revision = this.#stored.revision;
    this.#beforeLive = usable(this.#stored.live, options);
    this.#live = new Track({
      position: this.#beforeLive,
      end: null,
      rate: this.#rateAt(this.#beforeLive),
      oldestUs: Math.max(oldestLiveUs, (backfillHours + 1) * hourUs),
      dense: this.#isPresent,
      clockUs: () => this.#clockUs(),
    });
  }

  async run(): Promise<void> {
    if (this.#beforeLive) reportLag(this.#beforeLive, this.#options.telemetry, this.#options.clock());
    if (this.#stored.backfill) this.#startBackfill(this.#stored.backfill);
    const timer = setInterval(() => this.#tick(), this.#options.commitMs);
    const live = this.#live;
    const task: ReaderTask = {
      role: 'live',
      track: live,
      begin: (fruitless) => this.#beginLive(fruitless),
      silenceUs: () => live.silenceUs,
      full: () => this.#tick(),
      bootstrapping: () => {
        if (this.#downloadingUs === null)
          this.#options.log.warn(
            'the host is downloading the repositories: reading continues live, and a gap is recorded',
          );
        this.#downloadingUs = this.#clockUs();
      },
    };
    const reading = runReader(this.#context, task, this.#stopped);
    try {
      await Promise.race([reading, this.#failed.promise]);
      this.#commit();
    } finally {
      this.#isOver = true;
      clearInterval(timer);
      this.#stop.abort();
      await Promise.all([reading, ...this.#backfills]);
    }
  }

  /** Returns the cursor of the next live connection, or null to begin at the present. */
  #beginLive(fruitless: number): number | null {
    const { backfillHours } = this.#options;
    const { position } = this.#live;
    const young = Math.max(backfillHours * hourUs, alwaysResumedUs);
    const isFruitless = fruitless % (fruitlessResumes + 1) === fruitlessResumes;
    const ageUs = position ? this.#clockUs() - position.timeUs : Number.POSITIVE_INFINITY;
    // Do not resume a position far ahead of the clock: the next events will show whether the clock or the position is
    // wrong.
    const isDownloaded = this.#downloadingUs !== null;
    if (position && !isDownloaded && !isFruitless && ageUs <= young && ageUs >= -futureUs) {
      const isFirst = this.#revision === this.#stored.revision;
      const cursor = this.#cursorOf(position, isFirst);
      this.#live.resume();
      return cursor;
    }
    this.#beforeLive = position;
    // A host that downloads the repositories numbers its events from 1.
    if (isDownloaded) this.#live.tooOld();
    this.#live.goLive(backfillHours > 0 && !isDownloaded);
    return null;
  }

  #startBackfill(plan: StoredBackfill): void {
    const clockUs = (): number => this.#clockUs();
    const track = new Track({ position: plan.position, end: plan.end, rate: this.#rateAt(plan.position), clockUs });
    const running: RunningBackfill = { track, plan, bytes: plan.bytes, over: false, stop: new AbortController() };
    this.#backfill = running;
    const signal = AbortSignal.any([this.#stopped, running.stop.signal]);
    const work = runReader(this.#context, this.#backfillTask(running), signal);
    this.#backfills.push(
      work.then(() => {
        running.over = true;
      }, this.#failed.reject),
    );
  }

  #backfillTask(running: RunningBackfill): ReaderTask {
    const { track } = running;
    let isFirst = true;
    return {
      role: 'backfill',
      track,
      silenceUs: () => Math.max(backfillSilenceUs, track.silenceUs),
      read: (bytes) => {
        running.bytes += bytes;
        return running.bytes > this.#options.backfillBytes;
      },
      reached: () => setImmediate(() => this.#tick()),
      full: () => this.#tick(),
      begin: (fruitless) => {
        const { position } = track;
        if (fruitless >= fruitlessBackfills || !position) return 'give_up';
        const cursor = this.#cursorOf(position, isFirst);
        isFirst = false;
        track.resume();
        return cursor;
      },
    };
  }

  /** Starts a backfill after a live start. The backfill reads from the old position to the first live event. */
  #fillGap(): void {
    const end = this.#live.takeLiveStart();
    if (!end) return;
    this.#backfill?.stop.abort();
    const oldest = Math.floor(this.#clockUs() - this.#options.backfillHours * hourUs);
    const before = this.#beforeLive;
    const position: Position =
      before && before.timeUs >= oldest ? before : { kind: 'time', value: oldest, counted: 0, timeUs: oldest };
    const seconds = Math.round((end.timeUs - position.timeUs) / 1e6);
    this.#options.log.info('the backfill of missed events has started', { seconds });
    this.#startBackfill({ position, end, bytes: 0 });
  }

  #commit(): void {
    const { store, log, telemetry, clock } = this.#options;
    this.#fillGap();
    const backfill = this.#backfill;
    const gaveUp = backfill?.over === true;
    const gains = [this.#live.take(), ...(backfill ? [backfill.track.take()] : [])];
    // Stop the backfill if a position was abandoned, because the end of the backfill may be wrong too. A gap is better
    // than events that are counted twice.
    if (gains.some(({ resets }) => resets > 0)) backfill?.stop.abort();
    if (gains.every(({ outcomes }) => Object.values(outcomes).every((frames) => frames === 0)) && !gaveUp) return;
    const began = performance.now();
    const remaining = backfill && !gaveUp && !backfill.track.done ? stateOf(backfill) : null;
    const { position } = this.#live;
    if (this.#downloadingUs !== null && (position?.timeUs ?? 0) > this.#downloadingUs) this.#downloadingUs = null;
    store.commit({ series: this.#stored.id, after: this.#revision, gains, live: position, backfill: remaining });
    this.#revision += 1;
    if (backfill && !remaining)
      log.info('the backfill of missed events has ended', { reachedItsEnd: backfill.track.done });
    if (!remaining) this.#backfill = null;
    reportCommit({ gains, milliseconds: performance.now() - began, position }, { telemetry, log, nowMs: clock() });
    this.#options.committed();
  }

  #tick(): void {
    if (this.#isOver) return;
    try {
      this.#commit();
    } catch (error) {
      this.#failed.reject(error);
    }
  }

  /** Returns the cursor of a connection that resumes at a position: the first one, or a later one. */
  #cursorOf({ kind, value }: Position, isFirst: boolean): number {
    const overlapping = isFirst ? (this.#isPresent ? overlap : legacyOverlap) : reconnectOverlap;
    return Math.max(1, value - overlapping[kind]);
  }

  #rateAt(position: Position | null): number | null {
    return position && this.#options.store.recentRate(this.#stored.id, position.timeUs);
  }

  #clockUs(): number {
    return this.#options.clock() * 1000;
  }
}

/**
 * Returns the stored position. Returns null if no host can have sent it; reading then begins at the present, and a gap
 * is recorded.
 */
function usable(position: Position | null, { log, telemetry }: SessionOptions): Position | null {
  if (!position || isUsable(position)) return position;
  log.warn('the stored position is invalid; reading continues live, and a gap is recorded');
  telemetry.positionReset();
  return null;
}

function stateOf({ track, plan, bytes }: RunningBackfill): StoredBackfill {
  return { position: track.position ?? plan.position, end: plan.end, bytes };
}

/** Result of one commit of a session. */
interface CommitReport {
  readonly gains: readonly TrackGain[];
  /** Duration of the commit, in milliseconds. */
  readonly milliseconds: number;
  /** Position of the live reader after the commit, or null if it has none. */
  readonly position: Position | null;
}

/**
 * Reports a commit to the metrics, and logs what was not observed or not counted. `nowMs` is the wall clock, in
 * milliseconds.
 */
export function reportCommit(
  { gains, milliseconds, position }: CommitReport,
  { telemetry, log, nowMs }: { readonly telemetry: WeatherTelemetry; readonly log: Log; readonly nowMs: number },
): void {
  for (const { outcomes, gapUs, resets } of gains) {
    telemetry.frames(outcomes);
    telemetry.gap(gapUs / 1e6);
    for (let i = 0; i < resets; i += 1) telemetry.positionReset();
    if (resets > 0)
      log.warn('the stream does not contain the stored position; the position is abandoned, and a gap is recorded');
    if (outcomes.past + outcomes.implausible > 0) {
      log.warn('events with implausible times or numbers are not counted', {
        past: outcomes.past,
        implausible: outcomes.implausible,
      });
    }
    if (outcomes.future > 0) {
      log.warn("events ahead of this machine's clock are not counted; check the clock", { events: outcomes.future });
    }
    if (gapUs > 0) log.warn('part of the stream was not observed', { seconds: gapUs / 1e6 });
  }
  telemetry.committed(
    gains.reduce((sum, { windows }) => sum + windows.length, 0),
    milliseconds,
  );
  if (position) reportLag(position, telemetry, nowMs);
}

/**
 * Reports the age of the newest counted event. A session also calls this function when it starts, because no event
 * arrives after a restart during an outage.
 */
function reportLag({ timeUs }: Position, telemetry: WeatherTelemetry, nowMs: number): void {
  telemetry.lag(Math.max(0, nowMs / 1000 - timeUs / 1e6), timeUs / 1000);
}
