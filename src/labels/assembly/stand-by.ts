import type { Micros } from '../../contract/timestamp.ts';
import { errorFields } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { WriterSighting } from '../../store/standby/standby.ts';
import { minute } from '../../store/time.ts';
import { wait } from '../clock/wait.ts';
import type { InstrumentRole } from '../standby/instrument-role.ts';
import { isRead } from '../standby/readiness.ts';
import { lookMs, type RoleAction, type RoleEvent, roleStep, standingBy } from '../state/role.ts';
import { takeOver } from './take-over.ts';
import type { Acts, Assembled } from './tasks.ts';

/** Number of looks at the writer between two reads of the rows that it stored. */
const looksPerFollow = 4;
/** Maximum time after the start until the standby counts as ready, even if some labelers have not responded. */
const maxStartTime = minute;

/**
 * Watches the writer until the signal aborts, and makes this instrument the active one when the writer has ended.
 * Rejects if the store fails permanently.
 */
export async function standBy(
  assembled: Assembled,
  acts: Acts,
  role: InstrumentRole,
  signal: AbortSignal,
): Promise<void> {
  const watch = new StandbyWatch(assembled, role);
  for (let look = 0; !signal.aborted && role.role === 'standby'; look += 1) {
    if (look % looksPerFollow === 0) await watch.follow();
    const writer = await watch.look();
    if (writer !== null) {
      await takeOver(assembled, acts, { role, writer, watched: watch, signal });
      watch.becomeActive();
      await acts.publish();
      role.activated();
      return;
    }
    await wait(lookMs, signal);
  }
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
  /** True while the store cannot be read, which was logged. */
  #isFailing = false;

  constructor(assembled: Assembled, role: InstrumentRole) {
    this.#assembled = assembled;
    this.#role = role;
    this.observedSince = assembled.base.clocks.wall();
    for (const { did, tracker } of assembled.labelers.roster.labelers) {
      if (tracker.unreadSince !== null) this.readFrom.set(did, tracker.unreadSince);
    }
  }

  /** Forgets rows that the writer stored, and notes which sources are read live. */
  async follow(): Promise<void> {
    const { base, labelers } = this.#assembled;
    const { kept } = this.#role;
    try {
      await kept.follow();
      this.#isFailing = false;
    } catch (error) {
      // The floor rises when the writer drops a day.
      const isPassing = error instanceof StoreError && (error.retry || error.code === 'out_of_window');
      if (!isPassing) throw error;
      this.#tellOnce('the store could not be followed and is read again', error);
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
    if (this.#isReady || this.#isFailing || !this.#readsAll(now)) return;
    try {
      await this.#role.standby.ready();
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      this.#tellOnce('the standby could not report that it is ready', error);
      return;
    }
    this.#isReady = true;
    base.log.info('the standby is ready');
  }

  /** Looks at the writer. Returns the opened store if this instrument has become the writer. */
  async look(): Promise<StoreWriter | null> {
    const { base } = this.#assembled;
    const sighting = await this.#sighting();
    // The time until the next look counts as an interruption: the heartbeat may have been out of sight.
    if (sighting === null) return null;
    const { beat } = this.#state;
    const isAlive = sighting.kind === 'writing' && (sighting.beat === null || sighting.beat !== beat);
    if (isAlive) this.aliveAt = base.clocks.wall();
    const action = this.#step({ kind: 'looked', at: base.clocks.monotonic() / 1000, sighting });
    if (action === 'end_writer') await this.#endWriter();
    return action === 'open_store' ? this.#open() : null;
  }

  /** Returns what the store tells of the writer; null if it cannot be reached. */
  async #sighting(): Promise<WriterSighting | null> {
    try {
      return await this.#role.standby.writer();
    } catch (error) {
      if (!(error instanceof StoreError && error.retry)) throw error;
      this.#tellOnce('the writer could not be seen', error);
      return null;
    }
  }

  /** Logs the first of successive failures. */
  #tellOnce(message: string, error: unknown): void {
    if (!this.#isFailing) this.#assembled.base.log.warn(message, errorFields(error));
    this.#isFailing = true;
  }

  report(): void {
    const { rows } = this.#role.kept.kept;
    const oldestMs = rows.oldest === null ? null : rows.oldest / 1000;
    // A standby that cannot see the store cannot replace its writer.
    const isReady = this.#role.role === 'standby' && this.#isReady && !this.#isFailing;
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
    const end = await this.#role.standby.endWriter();
    if (end.kind === 'alive') return;
    if (end.kind === 'killed') {
      log.warn('the writer did not respond for 3 s and was killed', { pid: end.pid });
    } else if (end.kind === 'ended') {
      log.warn('the writer did not respond for 3 s and its lease was ended', { writer: end.name });
    } else if (this.#step({ kind: 'writer_kept', why: end.why }) === 'tell') {
      log.error('the writer does not respond and cannot be ended: this standby waits', { why: end.why });
    }
  }

  async #open(): Promise<StoreWriter | null> {
    const { log } = this.#assembled.base;
    try {
      return await this.#role.standby.takeOver();
    } catch (error) {
      if (!(error instanceof StoreError && (error.retry || error.code === 'second_writer'))) throw error;
      if (error.retry) log.warn('the store cannot be opened for writing yet', errorFields(error));
      this.#step({ kind: 'lock_lost' });
      return null;
    }
  }

  /** Returns true if every source that has responded before is read, or has failed for this instrument too. */
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
