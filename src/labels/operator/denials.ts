import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { maxBatchRows, type StoredGap, type StoreWriter } from '../../store/port.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import { type DenyEntry, DenyList, readDenyFile } from './deny-file.ts';

/** Dependencies of `Denials`. */
interface DenialsOptions {
  /** Directory of the store, which contains the list of denied labelers. */
  readonly folder: string;
  /** Returns the known labelers. */
  readonly labelers: () => Iterable<KnownLabeler>;
  /** Called with the removed entries, so that labelers that were not added because of them can be added. */
  readonly lifted: (entries: readonly DenyEntry[]) => void;
  /** Called when a labeler is denied or allowed, so that reading stops or resumes. */
  readonly changed: (labeler: KnownLabeler) => void;
  readonly store: Pick<StoreWriter, 'changeGaps'>;
  /** Requests to remove rows, which are read again before an allowed labeler is read. */
  readonly purges: Pick<Purges, 'load'>;
  readonly clock: () => Micros;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, 'denyListDamaged'>;
}

/** Applies the operator's list of denied labelers to the known ones, and records the gaps of denied labelers. */
export class Denials {
  readonly #options: DenialsOptions;
  #list = new DenyList([]);
  /** Description of the defect that the last read found in the list, or null if the list was valid. */
  #damage: string | null = null;

  constructor(options: DenialsOptions) {
    this.#options = options;
  }

  /** Returns the list that is in force. */
  get list(): DenyList {
    return this.#list;
  }

  /**
   * Returns true if a labeler is denied regardless of its endpoint: such a labeler is neither resolved nor enrolled.
   */
  deniesDid(did: string): boolean {
    return this.#list.entryFor({ did, endpoint: null }) !== null;
  }

  /**
   * Sets `denied` of a labeler according to its DID and endpoint. If a denial ends, marks the labels of the denied time
   * as missing, so that its gap is withdrawn once they are filled in.
   */
  judge(labeler: KnownLabeler): void {
    const wasDenied = labeler.denied;
    labeler.denied = this.#list.entryFor(labeler) !== null;
    if (wasDenied && !labeler.denied) labeler.tracker.apply({ kind: 'allowed', now: this.#options.clock() });
  }

  /** Returns the time of a labeler's denial; null if the labeler is not denied. */
  since(labeler: Pick<KnownLabeler, 'did' | 'endpoint'>): Micros | null {
    return parseTimestamp(this.#list.entryFor(labeler)?.since);
  }

  /** Returns the number of denied labelers: known labelers that are denied, and listed DIDs of unknown labelers. */
  count(): number {
    const known = new Set<string>();
    let denied = 0;
    for (const labeler of this.#options.labelers()) {
      known.add(labeler.did);
      if (labeler.denied) denied += 1;
    }
    for (const { target } of this.#list.entries) if (target.kind === 'did' && !known.has(target.did)) denied += 1;
    return denied;
  }

  /**
   * Reads the file and applies changes. Stops reading a denied labeler before any change is written. A damaged or
   * missing file leaves the list in force, because the operator's commands never remove the file.
   */
  async refresh(): Promise<void> {
    const { folder, log, telemetry } = this.#options;
    const reading = await readDenyFile(folder);
    const damage = this.#damageOf(reading);
    telemetry.denyListDamaged(damage !== null);
    if (damage !== null && damage !== this.#damage) {
      log.error('the list of denied labelers is invalid; the last valid list stays in force', { why: damage });
    }
    this.#damage = damage;
    if (reading.kind === 'list') await this.#apply(reading.list);
  }

  /** Sets the list without recording gaps. Must be called at startup, before any labeler is read. */
  load(list: DenyList): void {
    this.#list = list;
    for (const labeler of this.#options.labelers()) this.judge(labeler);
  }

  /** Records a gap up to now for every denied labeler that was ever observed. */
  async recordGaps(): Promise<void> {
    await this.#record([...this.#options.labelers()].filter(({ denied }) => denied));
  }

  #damageOf(reading: Awaited<ReturnType<typeof readDenyFile>>): string | null {
    if (reading.kind === 'damaged') return reading.why;
    return reading.kind === 'absent' && this.#list.entries.length > 0 ? 'the file does not exist' : null;
  }

  async #apply(list: DenyList): Promise<void> {
    const before = this.#list;
    const wereDenied = [...this.#options.labelers()].filter(({ denied }) => denied);
    this.#list = list;
    const lifted = before.entries.filter(({ target }) => list.entryOf(target) === null);
    if (lifted.length > 0) this.#options.lifted(lifted);
    const changed: KnownLabeler[] = [];
    for (const labeler of this.#options.labelers()) {
      const { denied } = labeler;
      this.judge(labeler);
      if (labeler.denied !== denied) changed.push(labeler);
    }
    if (changed.length === 0) return;
    this.#options.log.info('the list of denied labelers changed', {
      denied: changed.filter(({ denied }) => denied).length,
      allowed: changed.filter(({ denied }) => !denied).length,
    });
    // Stop reading denied labelers immediately, even if the gap cannot be written. Read allowed labelers only after
    // their gap is written and the requests to remove their rows are known.
    for (const labeler of changed) if (labeler.denied) this.#options.changed(labeler);
    const allowed = wereDenied.filter(({ denied }) => !denied);
    await this.#beforeAllowed(allowed, before).finally(() => {
      for (const labeler of changed) if (!labeler.denied) this.#options.changed(labeler);
    });
    await this.#record(changed.filter(({ denied }) => denied));
  }

  async #beforeAllowed(allowed: readonly KnownLabeler[], before: DenyList): Promise<void> {
    await this.#record(allowed, before);
    if (allowed.length > 0) await this.#options.purges.load();
  }

  async #record(labelers: readonly KnownLabeler[], list = this.#list): Promise<void> {
    const now = this.#options.clock();
    const gaps = labelers.flatMap((labeler) => (list.entryFor(labeler) === null ? [] : gapOf(labeler, now)));
    for (let at = 0; at < gaps.length; at += maxBatchRows) {
      const part = gaps.slice(at, at + maxBatchRows);
      await this.#options.store.changeGaps(part.map((gap) => ({ kind: 'record', gap })));
    }
  }
}

/**
 * Returns the gap of a denied labeler as a list, which is empty if the labeler was never observed or has no gap yet. The
 * gap begins when the labeler was last complete, which may be before the denial: its labels since then are not read.
 */
function gapOf({ did, tracker }: KnownLabeler, now: Micros): StoredGap[] {
  const { lastAnswered } = tracker.tracked;
  if (lastAnswered === null) return [];
  const start = tracker.unreadSince ?? lastAnswered;
  return start < now ? [{ source: did, start, end: now, reason: 'source_unavailable' }] : [];
}

/** Dependencies of `Purges`. */
interface PurgesOptions {
  readonly store: Pick<StoreWriter, 'requestPurge' | 'purge' | 'purges'>;
  readonly clock: () => Micros;
  readonly log: Log;
}

/** Conditions of `Purges.remove`. */
interface RemovalOptions {
  /** List of denials in force, whose entries request purges. */
  readonly list: DenyList;
  /** Returns true if no more rows of a labeler are being stored. */
  readonly idle: (did: string) => boolean;
}

/**
 * Removals of the rows of denied labelers. A labeler that is allowed again may deliver removed rows once more, because
 * its pages had not been read up to these rows. Admission refuses them by the time of the request, before which the
 * store has a gap of the labeler.
 */
export class Purges {
  readonly #options: PurgesOptions;
  #requested: ReadonlyMap<string, Micros> = new Map();

  constructor(options: PurgesOptions) {
    this.#options = options;
  }

  /**
   * Reads the requests from the store. Must be called before a labeler is read: at startup, and when a labeler is
   * allowed, because another instrument may have recorded the request.
   */
  async load(): Promise<void> {
    const purges = await this.#options.store.purges();
    this.#requested = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  }

  /** Returns the time before which no label of a labeler is observed, or null if its rows were not removed. */
  requestedAt(did: string): Micros | null {
    return this.#requested.get(did) ?? null;
  }

  /**
   * Passes the requests in the operator's list to the store, and removes rows until no request is pending. Stops when
   * the signal aborts; the next call resumes, even after a restart.
   */
  async remove({ list, idle }: RemovalOptions, signal: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      for (const { target, purge } of list.entries) {
        const at = parseTimestamp(purge);
        if (target.kind !== 'did' || at === null || !idle(target.did)) continue;
        if (!(await store.requestPurge({ source: target.did, at }))) continue;
        log.info('a purge has started');
        await this.load();
      }
      while (!signal.aborted && (await store.purge(clock())));
    } catch (error) {
      if (signal.aborted && error instanceof StoreError && error.code === 'closed') return;
      throw error;
    }
  }
}
