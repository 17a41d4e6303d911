import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { maxPositionLength, type NewObservation, type Position, type PositionChange } from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import { day, hour, type Interval, minute, minute as minuteUs } from '../../store/time.ts';
import type { RepeatFinder } from './repeat-finder.ts';

/** Maximum number of sources whose repeats are remembered. The stored repeats of a source have at most 4 KB. */
const maxSources = 2_000;

/** Repeats of one source. */
interface Remembered {
  /** The repeats in their stored form, because parsed repeats need twelve times as much memory. */
  readonly text: string;
  /** Minute of the newest repeats. */
  readonly newest: number;
}

/** Repeats of one page, with the changes to commit with its rows. */
export interface PageRepeats {
  readonly changes: readonly PositionChange[];
  /** Adds the repeats to the memory. Must be called once the page is durable. */
  committed(): void;
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

  /**
   * Counts the repeats among the rows of the next commit. Each source may have one pending page at a time.
   */
  async find(source: string, observations: readonly NewObservation[]): Promise<PageRepeats> {
    const count = await this.#finder.count(source, observations);
    if (count === 0) return { changes: [], committed: () => undefined };
    const before = readRepeats(this.#sources.get(source)?.text ?? '');
    const repeats = addRepeats(before, { minute: this.#minute(), count });
    const value = writeRepeats(repeats, maxPositionLength - source.length - repeatsName.length);
    return {
      changes: [{ source, endpoint: repeatsName, value }],
      committed: () => this.#keep(source, value),
    };
  }

  /**
   * Remembers the repeats of a source. Forgets expired repeats and, above the maximum number of sources, one source.
   */
  #keep(source: string, text: string): void {
    this.#sources.set(source, { text, newest: readRepeats(text).at(-1)?.minute ?? 0 });
    const expired = this.#minute() - keptMinutes;
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

  #minute(): number {
    return Math.floor(this.#clock() / minute);
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

/** Number of rows of one source in one minute that repeat known labels with a different time. */
interface Repeats {
  /** Minutes since 1970 by the local clock. */
  readonly minute: number;
  readonly count: number;
}

/**
 * Returns the repeats in order of their minutes, with the given minute added and without the repeats that are too old
 * for any published window.
 */
export function addRepeats(repeats: readonly Repeats[], { minute: at, count }: Repeats): Repeats[] {
  const counts = new Map(repeats.map((one) => [one.minute, one.count]));
  counts.set(at, (counts.get(at) ?? 0) + count);
  return [...counts]
    .map(([minuteAt, sum]) => ({ minute: minuteAt, count: sum }))
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

/** Returns the number of burst rows in an interval. A minute counts in full if its start is in the interval. */
export function burstsIn(bursts: readonly Repeats[], { start, end }: Interval): number {
  return sum(bursts.filter(({ minute: at }) => at * minute >= start && at * minute < end));
}

/**
 * Formats the repeats as a string of at most `maxCharacters` characters. If necessary, merges the minutes of the
 * oldest hours and then omits the oldest entries.
 */
export function writeRepeats(repeats: readonly Repeats[], maxCharacters: number): string {
  let kept = [...repeats];
  let text = textOf(kept);
  while (text.length > maxCharacters && kept.length > 0) {
    const merged = mergeOldest(kept);
    kept = merged.length < kept.length ? merged : kept.slice(1);
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
    repeats.push({ minute: at, count: Number.parseInt(count, 36) });
  }
  return repeats;
}

/**
 * Merges the minutes of the oldest hour that has several entries. Returns the same entries if there is no such hour.
 */
function mergeOldest(repeats: readonly Repeats[]): Repeats[] {
  const hours = Map.groupBy(repeats, ({ minute: at }) => Math.floor(at / burst.minutes));
  const oldest = [...hours].find(([, own]) => own.length > 1)?.[0];
  return [...hours].flatMap(([at, own]) => (at === oldest ? [{ minute: own[0]?.minute ?? 0, count: sum(own) }] : own));
}

function textOf(repeats: readonly Repeats[]): string {
  return repeats
    .map(({ minute: at, count }, i) => `${(at - (repeats[i - 1]?.minute ?? 0)).toString(36)}.${count.toString(36)}`)
    .join(' ');
}

function sum(repeats: readonly Repeats[]): number {
  return repeats.reduce((total, { count }) => total + count, 0);
}

/** Number of stored strings that are parsed in one turn of the event loop. */
const textsAtOnce = 20;

/** Bursts of repeats by labeler, in order of their minutes. */
export type BurstsByLabeler = ReadonlyMap<string, readonly Repeats[]>;

/** Finds bursts among the stored repeats. Omits repeats from before a purge of the labeler's rows. */
export async function burstsByLabeler(
  positions: readonly Position[],
  purges: readonly Purge[],
): Promise<BurstsByLabeler> {
  const removedAt = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  const found = new Map<string, readonly Repeats[]>();
  let read = 0;
  for (const { source, endpoint, value } of positions) {
    if (endpoint !== repeatsName) continue;
    const since = (removedAt.get(source) ?? 0) / minuteUs;
    const bursts = burstsOf(readRepeats(value).filter(({ minute }) => minute >= since));
    if (bursts.length > 0) found.set(source, bursts);
    read += 1;
    if (read % textsAtOnce === 0) await nextTurn();
  }
  return found;
}

/** A labeler, and the number of its events that count in an interval. */
export interface LabelerEvents {
  readonly labeler: string;
  readonly events: number;
}

/** Counts without bursts of repeats, and the number of omitted rows. */
export interface Counted {
  /** Labelers in descending order of their counts, then by DID. Labelers whose rows are all repeats are omitted. */
  readonly counts: readonly LabelerEvents[];
  /** Number of rows that are omitted because they repeat known labels. */
  readonly leftOut: number;
  /** Number of labelers with a burst in the interval. */
  readonly labelers: number;
}
