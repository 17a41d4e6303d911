import { day, hour, type Interval, minute } from '../../store/time.ts';

/** Name under which the repeats of a source are stored with its positions. */
export const repeatsName = 'repeats';
/** Repeats within an hour from which on they are a burst: a labeler that signs its labels again, not new acts. */
export const burstRows = 100;
/** Minutes of an hour. */
const burstMinutes = hour / minute;
/** Age in minutes beyond which repeats are forgotten: they have left every published window. */
export const keptMinutes = (31 * day) / minute;

/** Rows of one source that repeat known labels with another time. */
export interface Repeats {
  /** Minutes since 1970 on the observed clock. */
  readonly minute: number;
  readonly count: number;
}

/** Returns the repeats with those of another minute, in order, without those that have left every window. */
export function addRepeats(repeats: readonly Repeats[], { minute: at, count }: Repeats): Repeats[] {
  const counts = new Map(repeats.map((one) => [one.minute, one.count]));
  counts.set(at, (counts.get(at) ?? 0) + count);
  return [...counts]
    .map(([minuteAt, sum]) => ({ minute: minuteAt, count: sum }))
    .filter((one) => one.minute > at - keptMinutes)
    .sort((a, b) => a.minute - b.minute);
}

/**
 * Returns the repeats, in order of their minutes, that are part of a burst: at least `burstRows` within 60 minutes in a row.
 * One pass: a sum over the last 60 minutes moves along.
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

/** Returns how many rows of the bursts are in the interval. A minute counts entirely if its start is in the interval. */
export function burstsIn(bursts: readonly Repeats[], { start, end }: Interval): number {
  return sum(bursts.filter(({ minute: at }) => at * minute >= start && at * minute < end));
}

/** Writes the repeats as text of at most so many characters: hours lose their minutes, the oldest first. */
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

/** Reads the text again; what cannot be read is left out. */
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

/** Joins the minutes of the oldest hour that has several; the same array's content if there is none. */
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
