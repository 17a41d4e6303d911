import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { threadCpuMs } from '../../ops/process.ts';
import { StoreError } from '../../store/errors.ts';
import { identityOf, type ReceivedLabel, splitUri } from '../../store/label.ts';
import {
  duplicateHorizon,
  type Frontier,
  maxPositionLength,
  type NewObservation,
  type Observation,
  type StoreReader,
} from '../../store/port.ts';
import { day, hour, minute } from '../../store/time.ts';
import { noChanges, type PageChanges } from '../state/filled-in.ts';
import type { KeyChanges } from './key-changes.ts';

/** Maximum number of sources whose repeats are remembered. The stored repeats of a source have at most 4 KB. */
const maxSources = 2_000;

/** Repeats of one source. */
interface Remembered {
  /** The repeats in their stored form, because parsed repeats need twelve times as much memory. */
  readonly text: string;
  /** Minute of the newest repeats. */
  readonly newest: number;
}

/**
 * Counts repeats by source and minute. The counts are stored with the positions and committed with the rows, so that a
 * row that is read again after a restart is not counted twice.
 */
export class RepeatMemory {
  readonly #finder: Pick<RepeatFinder, 'count'>;
  readonly #clock: () => Micros;
  readonly #isPrivileged: (source: string) => boolean;
  readonly #sources = new Map<string, Remembered>();

  /** `isPrivileged` returns true for a source that is forgotten after all others. */
  constructor(finder: Pick<RepeatFinder, 'count'>, clock: () => Micros, isPrivileged: (source: string) => boolean) {
    this.#finder = finder;
    this.#clock = clock;
    this.#isPrivileged = isPrivileged;
  }

  /** Number of remembered sources. */
  get size(): number {
    return this.#sources.size;
  }

  /** Loads the stored repeats of a source. Returns false, without loading, if the name does not denote repeats. */
  load(source: string, name: string, text: string): boolean {
    if (name !== repeatsName) return false;
    this.#keep(source, text);
    return true;
  }

  /** Counts the repeats among the rows of a page. Each source may have one pending page at a time. */
  async find(source: string, observations: readonly NewObservation[]): Promise<PageChanges> {
    const count = await this.#finder.count(source, observations);
    if (count === 0) return noChanges;
    let value = '';
    return {
      changesAt: (at) => {
        const before = readRepeats(this.#sources.get(source)?.text ?? '');
        const repeats = addRepeats(before, { minute: Math.floor(at / minute), count });
        value = writeRepeats(repeats, maxPositionLength - source.length - repeatsName.length);
        return [{ source, endpoint: repeatsName, value }];
      },
      committed: () => this.#keep(source, value),
    };
  }

  /**
   * Remembers the repeats of a source. Forgets expired repeats and, above the maximum number of sources, one source.
   */
  #keep(source: string, text: string): void {
    const last = readRepeats(text).at(-1);
    this.#sources.set(source, { text, newest: last ? lastMinute(last) : 0 });
    const expired = Math.floor(this.#clock() / minute) - keptMinutes;
    for (const [one, { newest }] of this.#sources) if (newest <= expired) this.#sources.delete(one);
    if (this.#sources.size > maxSources) this.#sources.delete(this.#dispensable() ?? source);
  }

  /**
   * Returns the source whose newest repeat is the oldest. Returns a privileged source only if all sources are
   * privileged, because one party can operate thousands of new sources.
   */
  #dispensable(): string | null {
    let found: { readonly source: string; readonly isPrivileged: boolean; readonly newest: number } | null = null;
    for (const [source, { newest }] of this.#sources) {
      const isPrivileged = this.#isPrivileged(source);
      const isFirst =
        found === null || (isPrivileged === found.isPrivileged ? newest < found.newest : found.isPrivileged);
      if (isFirst) found = { source, isPrivileged, newest };
    }
    return found?.source ?? null;
  }
}

/** Name under which the repeats of a source are stored together with its positions. */
export const repeatsName = 'repeats';

/** Rows of one minute, and minutes, that make repeats a burst. */
export const burst = {
  /**
   * Minimum number of repeats in an hour that form a burst. A burst shows that a labeler signs its labels again; the rows
   * of a burst are not new events.
   */
  rows: 100,
  /** Length of the interval in which the repeats of a burst are counted, in minutes. */
  minutes: hour / minute,
};
/** Age in minutes after which repeats are forgotten. No published window includes older repeats. */
const keptMinutes = (31 * day) / minute;

/** Number of rows of one source in one minute, or in a part of an hour, that repeat known labels with a different time. */
export interface Repeats {
  /** First minute, counted since 1970 by the local clock. */
  readonly minute: number;
  /** Last minute; absent if there is only one. */
  readonly through?: number;
  readonly count: number;
}

/** Returns the last minute of repeats. */
export function lastMinute({ minute: at, through = at }: Repeats): number {
  return through;
}

/**
 * Returns the repeats in order of their minutes, with the given minute added and without the repeats that are too old
 * for any published window.
 */
export function addRepeats(repeats: readonly Repeats[], { minute: at, count }: Repeats): Repeats[] {
  const own = repeats.find((one) => one.minute <= at && at <= lastMinute(one)) ?? { minute: at, count: 0 };
  return [...repeats.filter((one) => one !== own), { ...own, count: own.count + count }]
    .filter((one) => one.minute > at - keptMinutes)
    .sort((a, b) => a.minute - b.minute);
}

/**
 * Returns the repeats that are part of a burst, in order of their minutes. A burst has at least `burstRows` repeats
 * within 60 consecutive minutes. One pass maintains the sum over the last 60 minutes.
 */
export function burstsOf(repeats: readonly Repeats[]): Repeats[] {
  const bursts: Repeats[] = [];
  let first = 0;
  let taken = 0;
  let rows = 0;
  for (const [last, { minute: at, count }] of repeats.entries()) {
    rows += count;
    for (let one = repeats[first]; one && one.minute <= at - burst.minutes; one = repeats[first]) {
      rows -= one.count;
      first += 1;
    }
    if (rows < burst.rows) continue;
    bursts.push(...repeats.slice(Math.max(first, taken), last + 1));
    taken = last + 1;
  }
  return bursts;
}

/**
 * Formats the repeats as a string of at most `maxCharacters` characters. If necessary, merges the minutes of the
 * oldest hours, then omits the last minutes of the oldest merged hours, and then the oldest entries.
 */
export function writeRepeats(repeats: readonly Repeats[], maxCharacters: number): string {
  let kept = [...repeats];
  let text = textOf(kept);
  while (text.length > maxCharacters && kept.length > 0) {
    const merged = mergeOldest(kept);
    kept = merged.length < kept.length ? merged : (withoutOldestEnd(kept) ?? kept.slice(1));
    text = textOf(kept);
  }
  return text;
}

/** Parses a string that `writeRepeats` formatted. Skips invalid entries. */
export function readRepeats(text: string): Repeats[] {
  const repeats: Repeats[] = [];
  let at = 0;
  for (const entry of text.split(' ')) {
    const [, gap, count] = /^([0-9a-z]{1,8})\.([0-9a-z]{1,8})$/.exec(entry) ?? [];
    if (gap === undefined || count === undefined) continue;
    at += Number.parseInt(gap, 36);
    const [rows, last] = [Number.parseInt(count, 36), repeats.at(-1)];
    // A minute without repeats is the last minute of the preceding entry. In earlier versions, it changes no sum.
    if (rows === 0 && last) repeats.splice(-1, 1, { ...last, through: at });
    else repeats.push({ minute: at, count: rows });
  }
  return repeats;
}

/**
 * Merges the minutes of the oldest hour that has several entries. Returns the same entries if there is no such hour.
 */
function mergeOldest(repeats: readonly Repeats[]): Repeats[] {
  const hours = Map.groupBy(repeats, ({ minute: at }) => Math.floor(at / burst.minutes));
  const oldest = [...hours].find(([, own]) => own.length > 1)?.[0];
  return [...hours].flatMap(([at, own]) => (at === oldest ? [own.reduce(merged)] : own));
}

function merged(all: Repeats, next: Repeats): Repeats {
  return { minute: all.minute, through: lastMinute(next), count: all.count + next.count };
}

/** Returns the repeats with those of the oldest merged hour in its first minute, or null if no hour is merged. */
function withoutOldestEnd(repeats: readonly Repeats[]): Repeats[] | null {
  const oldest = repeats.find(({ through }) => through !== undefined);
  if (oldest === undefined) return null;
  return repeats.map((one) => (one === oldest ? { minute: one.minute, count: one.count } : one));
}

function textOf(repeats: readonly Repeats[]): string {
  return repeats
    .flatMap((one) => (one.through === undefined ? [one] : [one, { minute: one.through, count: 0 }]))
    .map(({ minute: at, count }, i, all) => `${(at - (all[i - 1]?.minute ?? 0)).toString(36)}.${count.toString(36)}`)
    .join(' ');
}

/** Time after an observed key change during which the finder looks for repeats, in microseconds. */
export const watchedAfterChange = 7 * day;
/**
 * Maximum number of rows of an account that one look-up reads, newest first. A repeat of an older row counts as a new
 * event.
 */
const maxRows = 100;

/** Dependencies of the finder. */
interface RepeatFinderOptions extends LookUpOptions {
  readonly store: Pick<StoreReader, 'frontier' | 'readAccount'>;
  readonly keyChanges: Pick<KeyChanges, 'timeOf'>;
}

/**
 * Finds the rows of a page that repeat a stored label with a different time. Keeps no label in memory, because it looks
 * up known labels in the store.
 */
export class RepeatFinder {
  readonly #store: RepeatFinderOptions['store'];
  readonly #keyChanges: RepeatFinderOptions['keyChanges'];
  readonly #clock: () => Micros;
  readonly #lookUps: LookUps;

  constructor({ store, keyChanges, ...options }: RepeatFinderOptions) {
    this.#store = store;
    this.#keyChanges = keyChanges;
    this.#clock = options.clock;
    this.#lookUps = new LookUps(options);
  }

  /**
   * Returns the number of new rows that repeat the newest row of their label (src, uri, cid, val), with the same `neg`
   * and another `cts` or `exp`. Rows that the store already has are not counted. Returns 0 unless the labeler changed
   * its key in the last 7 days. Rows are judged in order, so the newest row may be an earlier row of the page. Returns
   * 0 if the store cannot answer a look-up. Rows beyond the hourly budget of look-ups are not counted either.
   */
  async count(did: string, observations: readonly NewObservation[]): Promise<number> {
    if (observations.length === 0) return 0;
    const store = this.#store;
    try {
      const changedAt = await this.#keyChanges.timeOf(did);
      if (changedAt === null || this.#clock() - changedAt > watchedAfterChange) return 0;
      const { floor, end } = await store.frontier();
      if (end <= floor) return 0;
      const labels = new Map(observations.map(({ label }) => [identityOf(label).toString('latin1'), label]));
      const judge = new PageJudge();
      let repeats = 0;
      for (const label of labels.values()) {
        const stored = await this.#lookUps.run(did, () => lookUp(store, label.uri, { floor, end, now: this.#clock() }));
        if (stored === null) break;
        if (stored.isComplete && judge.isRepeat(label, stored.rows)) repeats += 1;
      }
      return repeats;
    } catch (error) {
      // If a day is expired or damaged, count the rows as new events and continue to read the source.
      if (error instanceof StoreError) return 0;
      throw error;
    }
  }
}

/**
 * Returns the newest rows of the account in a URI, newest first. `isComplete` is true if the omitted rows cannot contain
 * a duplicate, which would count as a repeat each time it arrives. A URI without an account has no rows.
 */
async function lookUp(
  store: Pick<StoreReader, 'readAccount'>,
  uri: string,
  { floor: start, end, now }: Pick<Frontier, 'floor' | 'end'> & { readonly now: Micros },
): Promise<{ readonly rows: readonly Observation[]; readonly isComplete: boolean }> {
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
