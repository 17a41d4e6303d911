import { day, hour, type Interval, minute } from '../../store/time.ts';

/** Name under which the repeats of a source are stored together with its positions. */
export const repeatsName = 'repeats';
/**
 * Minimum number of repeats in an hour that form a burst. A burst shows that a labeler signs its labels again; the rows
 * of a burst are not new events.
 */
export const burstRows = 100;
/** Length of the interval in which the repeats of a burst are counted, in minutes. */
export const burstMinutes = hour / minute;
/** Age in minutes after which repeats are forgotten. No published window includes older repeats. */
export const keptMinutes = (31 * day) / minute;

/** Number of rows of one source in one minute that repeat known labels with a different time. */
export interface Repeats {
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
    for (let one = repeats[first]; one && one.minute <= at - burstMinutes; one = repeats[first]) {
      rows -= one.count;
      first += 1;
    }
    if (rows < burstRows) continue;
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
  const hours = Map.groupBy(repeats, ({ minute: at }) => Math.floor(at / burstMinutes));
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
