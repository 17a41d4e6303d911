import { day, hour, type Interval, minute } from '../../store/time.ts';

/** Name under which the repeats of a source are stored with its positions. */
export const repeatsName = 'repeats';
/**
 * Minimum repeats within an hour that count as a burst, in which a labeler signs its labels again without a new
 * decision.
 */
export const burstRows = 100;
/** Length of the interval in which repeats form a burst, in minutes. */
const burstMinutes = hour / minute;
/** Maximum age of stored repeats, in minutes; older repeats are outside every published window. */
const keptMinutes = (31 * day) / minute;

/** Number of rows of one source, in one minute, that repeat known labels with another time. */
export interface Repeats {
  /** Minute of the observed clock, counted since 1970. */
  readonly minute: number;
  readonly count: number;
}

/** Adds the repeats of a minute. Returns all repeats in order, without those that are too old for every window. */
export function addRepeats(repeats: readonly Repeats[], { minute: at, count }: Repeats): Repeats[] {
  const counts = new Map(repeats.map((one) => [one.minute, one.count]));
  counts.set(at, (counts.get(at) ?? 0) + count);
  return [...counts]
    .map(([minuteAt, sum]) => ({ minute: minuteAt, count: sum }))
    .filter((one) => one.minute > at - keptMinutes)
    .sort((a, b) => a.minute - b.minute);
}

/**
 * Returns the number of repeats in the interval that are part of a burst: at least `burstRows` within 60 consecutive
 * minutes. A minute counts entirely if its start is in the interval.
 */
export function burstsIn(repeats: readonly Repeats[], { start, end }: Interval): number {
  const isBurst = new Set<number>();
  for (const last of repeats) {
    const within = repeats.filter(({ minute: at }) => at > last.minute - burstMinutes && at <= last.minute);
    if (sum(within) >= burstRows) for (const { minute: at } of within) isBurst.add(at);
  }
  return sum(repeats.filter(({ minute: at }) => isBurst.has(at) && at * minute >= start && at * minute < end));
}

/**
 * Formats the repeats as text of at most `maxCharacters`. If necessary, the minutes of an hour are merged, the oldest
 * hour first.
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

/** Parses the text of `writeRepeats`; ignores invalid parts. */
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

/** Merges the minutes of the oldest hour that has several; returns the same repeats if there is no such hour. */
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
