import { performance } from 'node:perf_hooks';
import { createClassifier } from '../classify/classify.ts';
import { createEventsClassifier } from '../classify/classify-events.ts';
import { ResyncMemory } from '../classify/resync-memory.ts';
import { isUsable, type Position } from '../window/position.ts';
import type { StoredBackfill } from '../window/stored.ts';
import { futureUs, Track } from '../window/track.ts';
import type { WindowStore } from '../window/window-store.ts';
import { type ReaderContext, runReader } from './reader.ts';

const hourUs = 3_600_000_000;
/** However little is to be filled in: a position this young is resumed. */
const alwaysResumedUs = 15 * 60_000_000;
/** Of so many connections in a row that resumed and brought nothing new, the next is live: the cursor may be the reason. */
const fruitlessResumes = 3;
/** So many that brought a backfill nothing, and what is left of it stays a gap. */
const fruitlessBackfills = 5;
/** A replay may take its time to begin. */
const backfillSilenceUs = 30_000_000;
/** A live host stamps events when it sees them: none is older than a day, or than what a resume asks for. */
const oldestLiveUs = 24 * hourUs;

/**
 * The method shows a `sync` and then rows that only its account and time tell from acts. A session that begins reads so much
 * again before its position, to know of those that are under way: numbers, or microseconds where there is no number.
 */
const readAgain = { seq: 20_000, time: 60_000_000 } as const;

/** What a session reads with. */
export interface SessionOptions extends Omit<ReaderContext, 'classifier'> {
  /** In [0, 1). */
  readonly random: () => number;
  readonly store: WindowStore;
  /** Length of a backfill; 0 for none. */
  readonly backfillHours: number;
  /** Most bytes that one backfill may read. */
  readonly backfillBytes: number;
  readonly commitMs: number;
  /** Windows may have closed. */
  readonly committed: () => void;
}

/**
 * From the stored positions to the first commit that fails: one live reader, at most one backfill, and their gains
 * committed together. Rejects with what the store threw; nothing that was not committed outlives the session.
 */
export async function runSession(options: SessionOptions, signal: AbortSignal): Promise<void> {
  const { store, endpoint, clock } = options;
  const present = endpoint.wire === 'jetstream.subscribeEvents';
  const memory = new ResyncMemory(Math.floor(options.random() * 2 ** 32));
  const context: ReaderContext = {
    ...options,
    classifier: present ? () => createEventsClassifier(memory) : createClassifier,
  };
  const from = ({ kind, value }: Position): number => (present ? Math.max(1, value - readAgain[kind]) : value);
  const stored = store.series(endpoint.name);
  const clockUs = (): number => clock() * 1000;
  const rateAt = (position: Position | null): number | null => position && store.recentRate(stored.id, position.timeUs);
  const startsAt = usable(stored.live, options);
  const live = new Track({
    position: startsAt,
    end: null,
    rate: rateAt(startsAt),
    oldestUs: Math.max(oldestLiveUs, (options.backfillHours + 1) * hourUs),
    dense: present,
    clockUs,
  });
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const failed = Promise.withResolvers<never>();
  const backfills: Promise<void>[] = [];
  let revision = stored.revision;
  let over = false;
  let backfill = stored.backfill ? startBackfill(stored.backfill) : null;

  function startBackfill(plan: StoredBackfill): RunningBackfill {
    const track = new Track({ position: plan.position, end: plan.end, rate: rateAt(plan.position), clockUs });
    const running: RunningBackfill = { track, plan, bytes: plan.bytes, over: false, stop: new AbortController() };
    let again = true;
    const work = runReader(
      context,
      {
        role: 'backfill',
        track,
        silenceUs: () => Math.max(backfillSilenceUs, track.silenceUs),
        read: (bytes) => {
          running.bytes += bytes;
          return running.bytes > options.backfillBytes;
        },
        reached: () => setImmediate(tick),
        full: tick,
        begin: (fruitless) => {
          if (fruitless >= fruitlessBackfills) return 'give_up';
          const { position } = track;
          if (!position) return 'give_up';
          const asked = again ? from(position) : position.value;
          again = false;
          track.resume(asked);
          return asked;
        },
      },
      AbortSignal.any([stopped, running.stop.signal]),
    );
    backfills.push(
      work.then(() => {
        running.over = true;
      }, failed.reject),
    );
    return running;
  }

  /** A live connection restarted: the time between the old position and its first event must be filled in. */
  function fillUpTo(): void {
    const end = live.takeLiveStart();
    if (!end) return;
    backfill?.stop.abort();
    const oldest = Math.floor(clockUs() - options.backfillHours * hourUs);
    const { before } = begun;
    const position: Position =
      before && before.timeUs >= oldest ? before : { kind: 'time', value: oldest, counted: 0, timeUs: oldest };
    options.log.info('filling in the time before', { seconds: Math.round((end.timeUs - position.timeUs) / 1e6) });
    backfill = startBackfill({ position, end, bytes: 0 });
  }

  const begun: { before: Position | null } = { before: startsAt };
  function begin(fruitless: number): number | null {
    const { position } = live;
    const young = Math.max(options.backfillHours * hourUs, alwaysResumedUs);
    const tired = fruitless % (fruitlessResumes + 1) === fruitlessResumes;
    const ageUs = position ? clockUs() - position.timeUs : Number.POSITIVE_INFINITY;
    // A position far ahead of the clock is not asked for: the events themselves will show which of the two is wrong.
    if (position && !tired && ageUs <= young && ageUs >= -futureUs) {
      const asked = revision === stored.revision ? from(position) : position.value;
      live.resume(asked);
      return asked;
    }
    begun.before = position;
    live.goLive(options.backfillHours > 0);
    return null;
  }

  function commit(): void {
    fillUpTo();
    const given = backfill?.over === true;
    const gains = [live.take(), ...(backfill ? [backfill.track.take()] : [])];
    // What the backfill was told to end at may have been as wrong as the position: rather a gap than events twice.
    if (gains.some(({ resets }) => resets > 0)) backfill?.stop.abort();
    if (gains.every(({ outcomes }) => Object.values(outcomes).every((frames) => frames === 0)) && !given) return;
    const began = performance.now();
    const remaining = backfill && !given && !backfill.track.done ? stateOf(backfill) : null;
    store.commit({ series: stored.id, after: revision, gains, live: live.position, backfill: remaining });
    revision += 1;
    if (backfill && !remaining) options.log.info('the backfill is over', { reachedItsEnd: backfill.track.done });
    if (!remaining) backfill = null;
    tell(options, gains, performance.now() - began, live.position);
    options.committed();
  }

  function tick(): void {
    if (over) return;
    try {
      commit();
    } catch (error) {
      failed.reject(error);
    }
  }

  const timer = setInterval(tick, options.commitMs);
  const reading = runReader(
    context,
    { role: 'live', track: live, begin, silenceUs: () => live.silenceUs, full: tick },
    stopped,
  );
  try {
    await Promise.race([reading, failed.promise]);
    commit();
  } finally {
    over = true;
    clearInterval(timer);
    stop.abort();
    await Promise.all([reading, ...backfills]);
  }
}

/** The stored position, unless no host can have given it: then reading begins live, with a gap. */
function usable(position: Position | null, { log, telemetry }: SessionOptions): Position | null {
  if (!position || isUsable(position)) return position;
  log.warn('the stored position is invalid; reading continues live, with a gap');
  telemetry.positionReset();
  return null;
}

interface RunningBackfill {
  readonly track: Track;
  readonly plan: StoredBackfill;
  bytes: number;
  over: boolean;
  readonly stop: AbortController;
}

function stateOf({ track, plan, bytes }: RunningBackfill): StoredBackfill {
  return { position: track.position ?? plan.position, end: plan.end, bytes };
}

function tell(
  { telemetry, clock, log }: SessionOptions,
  gains: readonly ReturnType<Track['take']>[],
  milliseconds: number,
  position: Position | null,
): void {
  for (const { outcomes, gapUs, resets } of gains) {
    telemetry.frames(outcomes);
    telemetry.gap(gapUs / 1e6);
    for (let i = 0; i < resets; i += 1) telemetry.positionReset();
    if (resets > 0) log.warn('the stream does not contain the stored position; the position is abandoned, with a gap');
    if (outcomes.past + outcomes.implausible > 0) {
      log.warn('events with implausible times or numbers are not counted', {
        past: outcomes.past,
        implausible: outcomes.implausible,
      });
    }
    if (outcomes.future > 0) {
      log.warn("events ahead of this machine's clock are not counted; check the clock", { events: outcomes.future });
    }
    if (gapUs > 0) log.warn('time was not observed', { seconds: gapUs / 1e6 });
  }
  telemetry.committed(
    gains.reduce((sum, { windows }) => sum + windows.length, 0),
    milliseconds,
  );
  if (position) telemetry.lag(Math.max(0, clock() / 1000 - position.timeUs / 1e6));
}
