import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { maxPositionLength, type Position, type PositionChange } from '../../store/port.ts';
import { day, type Interval, micros, minute, second } from '../../store/time.ts';

/**
 * Times in which a source was read late. Labels that a labeler emitted during an outage arrive together when the source
 * can be read again. They are counted in the hour in which they were accepted, so no rate may divide them by the
 * observed time of that hour.
 *
 * The rule depends only on this instrument, never on `cts`: a labeler that dates a label back emitted it late, but it
 * was not read late. A catch-up begins when the source was last complete and ends with the last page before the reader
 * has read to the end. Nothing is accepted live in between, except later rows of a stream with a hole. Both the rows
 * accepted in that time and the time itself are left out of a rate. A longer span than necessary leaves out more of
 * both, and keeps the rate unbiased.
 */

/** Name under which the catch-ups of a source are stored together with its positions. */
const filledInName = 'filled-in';
/**
 * Maximum delay, in microseconds, that stays part of a rate: it moves at most 90 seconds of labels from one hour into
 * the next one, which is 5 % of half an hour.
 */
export const shortDelay = 90 * second;
/** Age in minutes after which a catch-up is forgotten. No published window includes older ones. */
const keptMinutes = (31 * day) / minute;
/** Age in minutes after which catch-ups are joined first if there are too many. No hours file includes older hours. */
const exactMinutes = (4 * day) / minute;
/** Maximum length of the stored catch-ups of a source, in characters. */
const maxCharacters = 1_000;

/** A catch-up in whole minutes since 1970 by the local clock: start inclusive, end exclusive. */
export interface MinuteSpan {
  readonly start: number;
  readonly end: number;
}

/** Catch-ups by source, in order of their starts. */
export type FilledInBySource = ReadonlyMap<string, readonly MinuteSpan[]>;

/** Changes about the rows of a page, such as their catch-up or repeats, which must be committed with these rows. */
export interface PageChanges {
  /**
   * Returns the changes for rows that are stamped at `at`. The page may wait for its commit for hours, so the changes
   * are created at each attempt to commit it. Must not be called between the last attempt and `committed`.
   */
  changesAt(at: Micros): readonly PositionChange[];
  /** Applies the changes that were created last to the memory. Must be called once the rows are durable. */
  committed(): void;
}

/** Changes about rows that need none. */
export const noChanges: PageChanges = { changesAt: () => [], committed: () => undefined };

/** Records the catch-ups of all sources. They are stored with the positions, so a restart does not lose them. */
export class FilledIn {
  readonly #spans = new Map<string, readonly MinuteSpan[]>();
  readonly #liveThrough = new Map<string, number>();

  /** Loads the stored catch-ups of a source. Returns false, without loading, if the name does not denote catch-ups. */
  load(source: string, name: string, text: string): boolean {
    if (name !== filledInName) return false;
    this.#spans.set(source, readSpans(text));
    return true;
  }

  /** Records that live rows of a source were committed before `at`. A later catch-up begins after them. */
  live(source: string, at: Micros): void {
    this.#liveThrough.set(source, at);
  }

  /**
   * Forgets the labelers that left the roster and have no reader, because anyone can create any number of labelers. A
   * labeler that is found again is read like a new one, so that its first catch-up includes all earlier ones.
   */
  forgetUnknown(isKnown: (source: string) => boolean): void {
    for (const remembered of [this.#spans, this.#liveThrough]) {
      for (const source of remembered.keys()) if (!isKnown(source)) remembered.delete(source);
    }
  }

  /** Number of sources of which anything is remembered. */
  get size(): number {
    return new Set([...this.#spans.keys(), ...this.#liveThrough.keys()]).size;
  }

  /**
   * Returns the change to commit with a page that is accepted while the source is complete only up to `since`. The change
   * is empty if the delay is short, or if a stored catch-up covers the page. With `isOutOfOrder`, the page may contain
   * rows that are older than live rows, so the catch-up includes the time of these live rows.
   */
  covering(source: string, since: Micros, { isOutOfOrder = false } = {}): PageChanges {
    const start = isOutOfOrder ? since : Math.max(since, this.#liveThrough.get(source) ?? 0);
    let value: string | null = null;
    return {
      changesAt: (at) => {
        value = this.#extended(source, start, at);
        return value === null ? [] : [{ source, endpoint: filledInName, value }];
      },
      committed: () => {
        if (value !== null) this.#spans.set(source, readSpans(value));
      },
    };
  }

  /** Returns the stored form of the spans with a catch-up from `start` to `now`, or null if they already contain it. */
  #extended(source: string, start: number, now: Micros): string | null {
    if (now - start <= shortDelay) return null;
    // Round up: nothing is accepted between the start and the next minute. The minute after `now` is included, because
    // the commit takes time.
    const span = { start: Math.ceil(start / minute), end: Math.floor(now / minute) + 2 };
    const before = this.#spans.get(source) ?? [];
    const isCovered = before.some((one) => one.start <= span.start && one.end >= span.end);
    if (isCovered) return null;
    return writeSpans(joinedSpans([...before, span]).filter(({ end }) => end > span.end - keptMinutes));
  }
}

/** Number of stored texts that are parsed in one turn of the event loop. */
const textsAtOnce = 20;

/** Reads the catch-ups of all sources again and again. Parses a stored text only if it has changed. */
export class FilledInReader {
  #parsed = new Map<string, { readonly text: string; readonly spans: readonly MinuteSpan[] }>();

  /** Returns the catch-ups among the stored positions. Yields to the event loop while many texts are parsed. */
  async read(positions: readonly Position[]): Promise<FilledInBySource> {
    const parsed = new Map<string, { readonly text: string; readonly spans: readonly MinuteSpan[] }>();
    let read = 0;
    for (const { source, endpoint, value: text } of positions) {
      if (endpoint !== filledInName) continue;
      const before = this.#parsed.get(source);
      parsed.set(source, before?.text === text ? before : { text, spans: readSpans(text) });
      if (before?.text === text) continue;
      read += 1;
      if (read % textsAtOnce === 0) await nextTurn();
    }
    this.#parsed = parsed;
    return new Map([...parsed].map(([source, { spans }]) => [source, spans]));
  }
}

/** Returns disjoint spans in order of their starts. Spans that overlap or touch are joined. */
export function joinedSpans(spans: readonly MinuteSpan[]): MinuteSpan[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (start >= end) continue;
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

/** Converts a span to an interval of the observed clock. */
export function intervalOf({ start, end }: MinuteSpan): Interval {
  return { start: micros(start * minute), end: micros(end * minute) };
}

/**
 * Formats joined spans. If the text is too long, joins the spans with the shortest time between them, first those that
 * no hours file includes.
 */
function writeSpans(spans: readonly MinuteSpan[]): string {
  let kept = spans;
  let text = textOf(kept);
  while (text.length > Math.min(maxCharacters, maxPositionLength) && kept.length > 1) {
    kept = withoutShortestBreak(kept);
    text = textOf(kept);
  }
  return text;
}

function withoutShortestBreak(spans: readonly MinuteSpan[]): readonly MinuteSpan[] {
  const exactFrom = (spans.at(-1)?.end ?? 0) - exactMinutes;
  const older = spans.filter(({ end }) => end <= exactFrom);
  const joinable = older.length > 1 ? older : spans;
  const breaks = joinable.slice(1).map(({ start }, at) => start - (spans[at]?.end ?? start));
  const at = breaks.indexOf(Math.min(...breaks));
  const joined = joinedSpans([{ start: spans[at]?.start ?? 0, end: spans[at + 1]?.end ?? 0 }]);
  return [...spans.slice(0, at), ...joined, ...spans.slice(at + 2)];
}

function textOf(spans: readonly MinuteSpan[]): string {
  return spans
    .map(({ start, end }, at) => `${(start - (spans[at - 1]?.end ?? 0)).toString(36)}.${(end - start).toString(36)}`)
    .join(' ');
}

/** Parses a string that `writeSpans` formatted. Skips invalid entries. */
function readSpans(text: string): MinuteSpan[] {
  const spans: MinuteSpan[] = [];
  let at = 0;
  for (const entry of text.split(' ')) {
    const [, before, length] = /^([0-9a-z]{1,8})\.([0-9a-z]{1,8})$/.exec(entry) ?? [];
    if (before === undefined || length === undefined) continue;
    const start = at + Number.parseInt(before, 36);
    at = start + Number.parseInt(length, 36);
    spans.push({ start, end: at });
  }
  return spans;
}
