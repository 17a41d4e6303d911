import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { threadCpuMs } from '../../ops/process.ts';
import { StoreError } from '../../store/errors.ts';
import { identityOf, type ReceivedLabel, splitUri } from '../../store/label.ts';
import {
  duplicateHorizon,
  type Frontier,
  type NewObservation,
  type Observation,
  type StoreReader,
} from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { day, hour, micros } from '../../store/time.ts';

/** Time after an observed key change during which the finder looks for repeats, in microseconds. */
export const watchedAfterChange = 7 * day;
/**
 * Maximum number of rows of an account that one look-up reads, newest first. A repeat of an older row counts as a new
 * event.
 */
const maxRows = 100;

/** Finds the rows of a page that repeat a stored label with a different time. */
export interface RepeatFinder {
  /**
   * Returns the number of new rows that repeat the newest row of their label (src, uri, cid, val), with the same `neg`
   * and another `cts` or `exp`. Rows that the store already has are not counted. Returns 0 unless the labeler changed
   * its key in the last 7 days. Rows are judged in order, so the newest row may be an earlier row of the page. Returns
   * 0 if the store cannot answer a look-up. Rows beyond the hourly budget of look-ups are not counted either.
   */
  count(did: string, observations: readonly NewObservation[]): Promise<number>;
}

/** Dependencies of the finder. */
interface RepeatFinderOptions extends LookUpOptions {
  readonly store: Pick<StoreReader, 'keys' | 'frontier' | 'readAccount'>;
}

/** Creates a finder. The finder keeps no label in memory, because it looks up known labels in the store. */
export function createRepeatFinder({ store, ...options }: RepeatFinderOptions): RepeatFinder {
  const { clock } = options;
  const lookUps = new LookUps(options);
  return {
    async count(did, observations) {
      if (observations.length === 0) return 0;
      try {
        const changedAt = lastKeyChange(await store.keys(did));
        if (changedAt === null || clock() - changedAt > watchedAfterChange) return 0;
        const { floor, end } = await store.frontier();
        if (end <= floor) return 0;
        const labels = new Map(observations.map(({ label }) => [identityOf(label).toString('latin1'), label]));
        const judge = new PageJudge();
        let repeats = 0;
        for (const label of labels.values()) {
          const stored = await lookUps.run(did, () => lookUp(store, label.uri, { floor, end, now: clock() }));
          if (stored === null) break;
          if (stored.isComplete && judge.isRepeat(label, stored.rows)) repeats += 1;
        }
        return repeats;
      } catch (error) {
        // If a day is expired or damaged, count the rows as new events and continue to read the source.
        if (error instanceof StoreError) return 0;
        throw error;
      }
    },
  };
}

/**
 * Returns the time of a labeler's last key change, or null if all its keys were first seen at the same time. The key
 * changed when the newest key was first seen. If the labeler returned to an earlier key, the key changed when a later
 * key was last seen.
 */
export function lastKeyChange(keys: readonly LabelerKey[]): Micros | null {
  const [first, ...later] = keys.map(({ firstSeen }) => firstSeen).sort((a, b) => a - b);
  const newest = later.at(-1);
  if (first === undefined || newest === undefined || first === newest) return null;
  const lastSeen = Math.max(...keys.map((one) => one.lastSeen));
  const present = keys.filter((one) => one.lastSeen === lastSeen);
  if (present.some(({ firstSeen }) => firstSeen === newest)) return newest;
  return micros(Math.max(newest, ...keys.filter((one) => one.lastSeen < lastSeen).map((one) => one.lastSeen)));
}

/**
 * Newest rows of an account. `isComplete` is true if the omitted rows cannot contain a duplicate; an undetected
 * duplicate would count as a repeat each time it arrives.
 */
interface NewestRows {
  readonly rows: readonly Observation[];
  readonly isComplete: boolean;
}

/**
 * Returns the newest rows of the account in a URI, newest first. Returns an incomplete empty list if the URI has no
 * account.
 */
async function lookUp(
  store: Pick<StoreReader, 'readAccount'>,
  uri: string,
  { floor: start, end, now }: Pick<Frontier, 'floor' | 'end'> & { readonly now: Micros },
): Promise<NewestRows> {
  const account = splitUri(uri)?.did;
  if (account === undefined) return { rows: [], isComplete: false };
  const query = { account, start, end, order: 'newest', after: null, limit: maxRows } as const;
  const { rows, next } = await store.readAccount(query);
  return { rows, isComplete: next === null || next < now - duplicateHorizon };
}

/**
 * Judges the labels of a page in order. A label that equals no stored row becomes the newest state of its src, uri, cid
 * and val.
 */
class PageJudge {
  readonly #newest = new Map<string, boolean>();

  /**
   * Returns true if a row repeats the newest state of its label. `stored` contains the rows of the account, newest
   * first.
   */
  isRepeat(label: ReceivedLabel, stored: readonly Observation[]): boolean {
    const { src, uri, cid, val, neg = false } = label;
    const same = stored.filter(
      ({ label: one }) => one.uri === uri && one.src === src && one.val === val && one.cid === cid,
    );
    // A stored row that arrives again is a duplicate, and was judged when it first arrived.
    if (same.some(({ label: one }) => isSameRow(one, label))) return false;
    const name = JSON.stringify([src, uri, cid ?? null, val]);
    const [newest] = same;
    const before = this.#newest.get(name) ?? (newest && newest.label.neg === true);
    this.#newest.set(name, neg);
    return before === neg;
  }
}

function isSameRow(a: ReceivedLabel, b: ReceivedLabel): boolean {
  return a.cts === b.cts && a.exp === b.exp && (a.neg === true) === (b.neg === true);
}

/** Maximum number of look-ups of a source per hour. Further rows of the source count as new events. */
const maxLookUps = 2_000;
/** Maximum processor time of look-ups in one turn of the event loop, in milliseconds. */
const sliceMs = 2;

/** Dependencies of look-ups. */
interface LookUpOptions {
  readonly clock: () => Micros;
  /** Charges a source for the processor time of its look-ups, in milliseconds. */
  readonly charge: (source: string, cpuMs: number) => void;
  /** Returns the processor time of this thread, in milliseconds. */
  readonly cpuMs?: () => number;
}

/**
 * Limits the look-ups of all sources. Look-ups run one at a time in order of arrival, and yield to the event loop after
 * each slice of processor time. The processor time is charged to the source, and each source has a budget per hour.
 */
export class LookUps {
  readonly #options: Required<LookUpOptions>;
  #before: Promise<unknown> = Promise.resolve();
  #spentMs = 0;
  #hour = 0;
  /** Number of look-ups in the current hour, by source. */
  readonly #used = new Map<string, number>();

  constructor(options: LookUpOptions) {
    this.#options = { cpuMs: threadCpuMs, ...options };
  }

  /**
   * Runs a look-up when it is the source's turn. Resolves with null, without running the look-up, if the source's
   * hourly budget is used up.
   */
  async run<T>(source: string, lookUp: () => Promise<T>): Promise<T | null> {
    if (!this.#take(source)) return null;
    const turn = this.#before.then(() => this.#runNow(source, lookUp));
    this.#before = turn.catch(() => undefined);
    return turn;
  }

  async #runNow<T>(source: string, lookUp: () => Promise<T>): Promise<T> {
    const { cpuMs, charge } = this.#options;
    if (this.#spentMs >= sliceMs) {
      await nextTurn();
      this.#spentMs = 0;
    }
    const begun = cpuMs();
    try {
      return await lookUp();
    } finally {
      const spent = cpuMs() - begun;
      this.#spentMs += spent;
      charge(source, spent);
    }
  }

  #take(source: string): boolean {
    const now = Math.floor(this.#options.clock() / hour);
    if (now !== this.#hour) this.#used.clear();
    this.#hour = now;
    const used = this.#used.get(source) ?? 0;
    if (used >= maxLookUps) return false;
    this.#used.set(source, used + 1);
    return true;
  }
}
