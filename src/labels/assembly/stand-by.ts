import type { Micros } from '../../contract/timestamp.ts';
import { errorFields } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { WriterSighting } from '../../store/standby/standby.ts';
import { minute, second } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import type { InstrumentRole } from '../standby/standby-store.ts';
import type { ReadingState } from '../state/reading-state.ts';
import { type RoleAction, type RoleEvent, roleStep, roleTimes, standingBy } from '../state/role.ts';
import { takeOver } from './take-over.ts';
import type { Acts, Assembled } from './tasks.ts';

/** Number of checks of the writer between two reads of the rows that it stored. */
const looksPerFollow = 4;
/** Interval between two checks of a writer that this standby has ended, in milliseconds. */
const endLookMs = 20;
/**
 * Time since the start, in microseconds, after which labelers that have not responded no longer prevent the standby from
 * being ready.
 */
const maxStartTime = minute;

/**
 * Watches the writer until the signal aborts, and ends a writer that hangs or has lost its connections. When the writer
 * has ended, makes this instrument the active one and publishes the artifacts. Rejects if the store fails permanently.
 */
export async function standBy(
  assembled: Assembled,
  acts: Acts,
  role: InstrumentRole,
  signal: AbortSignal,
): Promise<void> {
  const watch = new StandbyWatch(assembled, role);
  try {
    for (let look = 0; !signal.aborted && role.role === 'standby'; look += 1) {
      // Do not wait for the rows: a busy store may have many, and the checks of the writer must not be delayed.
      if (look % looksPerFollow === 0) watch.beginToFollow();
      const writer = await watch.look();
      if (writer !== null) {
        await takeOver(assembled, acts, { role, writer, watched: watch, signal });
        watch.becomeActive();
        role.activated();
        await acts.publish(signal);
        return;
      }
      await wait(watch.isEnding ? endLookMs : roleTimes.lookMs, signal);
    }
  } finally {
    await watch.followed();
  }
}

type WriterState = Extract<WriterSighting, { kind: 'writing' }>;

/** Returns the reason why a standby ends a writer in this state. */
function hangOf(writer: WriterState | null): string {
  if (writer?.isGone === true) return 'has lost its connections to the store';
  return writer?.state === 'opening'
    ? `did not respond for ${roleTimes.staleOpeningMs / 60_000} min while it opened the store`
    : `did not respond for ${roleTimes.staleMs / 1_000} s`;
}

class StandbyWatch {
  readonly observedSince: Micros;
  readonly liveSince = new Map<string, Micros>();
  readonly readFrom = new Map<string, Micros>();
  aliveAt: Micros | null = null;
  readonly #assembled: Assembled;
  readonly #role: InstrumentRole;
  #state = standingBy;
  #isReady = false;
  /** Kinds of work whose last attempt failed. The first failure of a series is logged. */
  readonly #failing = new Set<'follow' | 'ready' | 'look'>();
  #following: Promise<void> | null = null;
  /** Permanent error that ended reading the rows of the writer, or null. */
  #failure: { readonly error: unknown } | null = null;
  /** True from the time when this standby ended the writer until the lock is released. */
  #isEnding = false;
  /**
   * State of the writer at the last successful check. Null if that check found no writer, or if no check has
   * succeeded yet.
   */
  #writer: WriterState | null = null;

  constructor(assembled: Assembled, role: InstrumentRole) {
    this.#assembled = assembled;
    this.#role = role;
    this.observedSince = assembled.base.clocks.wall();
    for (const { did, tracker } of assembled.labelers.roster.labelers) {
      if (tracker.unreadSince !== null) this.readFrom.set(did, tracker.unreadSince);
    }
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /**
   * Starts to read the rows that the writer stored, unless a read is in progress. If the read fails permanently, the
   * next `look` throws the error.
   */
  beginToFollow(): void {
    this.#following ??= this.#follow()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#following = null;
      });
  }

  /** Resolves when no read of the store is in progress. */
  async followed(): Promise<void> {
    await this.#following;
  }

  /**
   * Removes kept rows that the writer stored, records which sources are read live, and reports whether this standby is
   * ready.
   */
  async #follow(): Promise<void> {
    const { base, labelers } = this.#assembled;
    const { kept } = this.#role;
    try {
      await kept.follow();
      this.#failing.delete('follow');
    } catch (error) {
      // An `out_of_window` error is temporary: the start of the retained time moves when the writer drops a day.
      const isPassing = error instanceof StoreError && (error.retry || error.code === 'out_of_window');
      if (!isPassing) throw error;
      this.#tellOnce('follow', 'the rows of the writer could not be read; the read will be retried', error);
    }
    const now = base.clocks.wall();
    for (const { did, tracker } of labelers.roster.labelers) {
      if (tracker.whole && !this.liveSince.has(did)) this.liveSince.set(did, now);
    }
    await this.#becomeReady(now);
    this.report();
  }

  async #becomeReady(now: Micros): Promise<void> {
    const { base } = this.#assembled;
    if (this.#isReady || this.#failing.has('follow') || !this.#readsAll(now)) return;
    // The takeover from a writer that this standby has never found alive records a gap.
    if (this.aliveAt === null) return;
    try {
      await this.#role.standby.ready();
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      this.#tellOnce('ready', 'the standby could not report that it is ready; reporting will be retried', error);
      return;
    }
    this.#failing.delete('ready');
    this.#isReady = true;
    base.log.info('the standby is ready');
  }

  /**
   * Checks the writer, and ends a writer that hangs. Returns the opened store if this instrument has become the writer,
   * or null.
   */
  async look(): Promise<StoreWriter | null> {
    const { base } = this.#assembled;
    const sighting = await this.#sighting();
    if (this.#failure !== null) throw this.#failure.error;
    if (sighting === null) {
      this.#step({ kind: 'unseen' });
      return null;
    }
    const { beat } = this.#state;
    this.#writer = sighting.kind === 'writing' ? sighting : null;
    // The first heartbeat that this standby finds may be old. Only a change of it shows that the writer is alive.
    const hasBeaten = sighting.kind === 'writing' && beat !== null && sighting.beat !== beat;
    const isAlive = hasBeaten || (sighting.kind === 'writing' && sighting.beat === null);
    if (isAlive) [this.aliveAt, this.#isEnding] = [base.clocks.wall(), false];
    const action = this.#step({ kind: 'looked', at: base.clocks.monotonic() / 1000, sighting });
    if (action === 'end_writer') await this.#endWriter();
    return action === 'open_store' ? this.#open() : null;
  }

  /** Returns the state of the writer according to the store, or null if the store cannot be reached. */
  async #sighting(): Promise<WriterSighting | null> {
    try {
      const sighting = await this.#role.standby.writer();
      this.#failing.delete('look');
      return sighting;
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      this.#tellOnce('look', 'the state of the writer could not be read', error);
      return null;
    }
  }

  /** Logs only the first of successive failures. */
  #tellOnce(work: 'follow' | 'ready' | 'look', message: string, error: unknown): void {
    if (!this.#failing.has(work)) this.#assembled.base.log.warn(message, errorFields(error));
    this.#failing.add(work);
  }

  report(): void {
    const { rows } = this.#role.kept.kept;
    const oldestMs = rows.oldest === null ? null : rows.oldest / 1000;
    // Do not report a standby as ready while it cannot reach the store, because it cannot replace the writer then.
    const isReady = this.#role.role === 'standby' && this.#isReady && this.#failing.size === 0;
    this.#assembled.base.telemetry.role(this.#role.role, { rows: rows.size, bytes: rows.bytes, oldestMs, isReady });
  }

  becomeActive(): void {
    this.#step({ kind: 'taken_over' });
    this.report();
  }

  #step(event: RoleEvent): RoleAction {
    const [state, action] = roleStep(this.#state, event);
    this.#state = state;
    this.#role.role = state.role;
    return action;
  }

  async #endWriter(): Promise<void> {
    const { log } = this.#assembled.base;
    const why = hangOf(this.#writer);
    const end = await this.#role.standby.endWriter();
    if (end.kind === 'alive') return;
    this.#isEnding = end.kind !== 'kept';
    if (end.kind === 'killed') {
      log.warn(`the writer ${why}, and was killed`, { writerPid: end.pid });
    } else if (end.kind === 'ended') {
      log.warn(`the writer ${why}, and its lease was ended`, { writer: end.name });
    } else if (this.#step({ kind: 'writer_kept', why: end.why }) === 'tell') {
      log.error('the writer does not respond and cannot be ended: this standby waits', { why: end.why });
    }
  }

  async #open(): Promise<StoreWriter | null> {
    const { log } = this.#assembled.base;
    this.#isEnding = false;
    // Wait for the read in progress, because the new writer takes over the label identities that this read loads.
    await this.#following;
    try {
      return await this.#role.standby.takeOver();
    } catch (error) {
      if (!(error instanceof StoreError && (error.retry || error.code === 'second_writer'))) throw error;
      if (error.retry) log.warn('the store cannot be opened for writing yet', errorFields(error));
      this.#step({ kind: 'lock_lost' });
      return null;
    }
  }

  /**
   * Returns true if every source that has ever responded is being read, waits for a reading slot, or cannot be read
   * by this instrument at present. Always returns true once `maxStartTime` has passed.
   */
  #readsAll(now: Micros): boolean {
    if (now - this.observedSince >= maxStartTime) return true;
    const { roster, runner } = this.#assembled.labelers;
    return [...roster.labelers].every((labeler) => {
      const { tracked, reading } = labeler.tracker;
      const isExpected = tracked.lastAnswered !== null && labeler.resolutionStatus !== 'no_labeler' && !labeler.denied;
      return (
        !isExpected ||
        isRead(reading, this.observedSince) ||
        reading.failing !== null ||
        runner.presence(labeler) === 'waiting'
      );
    });
  }
}

/** Time in microseconds after which a source that responds counts as read, even if its pages never end. */
const steadyAfter = 5 * second;

/**
 * Returns true if a source counts as read by a standby: all its earlier labels have been read once, or the source has
 * responded at least 5 seconds after `observedSince` and no outage is being filled in. The second rule exists because
 * some sources emit labels faster than they serve pages, so that their pages never end.
 */
export function isRead(
  { whole, outageSince, tracked }: Pick<ReadingState, 'whole' | 'outageSince' | 'tracked'>,
  observedSince: Micros,
): boolean {
  if (whole) return true;
  return outageSince === null && (tracked.lastAnswered ?? 0) >= observedSince + steadyAfter;
}
