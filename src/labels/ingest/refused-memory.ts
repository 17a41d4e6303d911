import { maxPositionLength, type PositionChange } from '../../store/port.ts';
import type { Transport } from '../shares/telemetry.ts';

/**
 * Record of one refused row: how often each transport delivered it, how often it was counted, and the hour of its last
 * delivery.
 */
interface Known {
  readonly hour: number;
  readonly counted: number;
  readonly stream: number;
  readonly poll: number;
}

/** One take of a source's rows: tells which refused ones count. What it saw is remembered only once it is durable. */
export interface RefusedTake {
  /** The next refused row, by its fingerprint: whether it counts. */
  counts(print: string): boolean;
  /** Position changes to commit with the counts, after all rows were recorded. */
  readonly changes: readonly PositionChange[];
  /** They are durable. */
  committed(): void;
}

/** Transport of rows. */
export interface Coming {
  readonly transport: Transport;
  /** This transport starts over: earlier rows may arrive again. */
  readonly anew: boolean;
  /** Rows among these were given by this way just now, or may have been: an equal row is the same row. */
  readonly again: boolean;
}

/** A source's rows are spread over so many texts, each kept as a position is. */
const buckets = 16;
const namePattern = /^refused\/([0-9a-f])$/;
/** Reading starts over at most 48 h back, plus a margin of one hour: older rows do not arrive again. */
const maxHours = 50;
/** Characters of all sources together; the one that has most is forgotten beyond it. */
const maxCharacters = 16_000_000;
/** Fraction of the bound that remains after trimming. */
const trimmedTo = 0.95;
/** Texts that go with one commit because they are forgotten. */
const maxForgotten = 100;

/**
 * Remembers the newest rows that were refused, so that one read twice is counted once: by stream and by poll, and again
 * after a restart. A labeler may send equal rows, so they are numbered: the third one by stream and the third one by poll
 * are the same. Stored with the positions and committed with the counts. Bounded per source (about 3,000 rows), in total, and
 * by age.
 */
export class RefusedMemory {
  readonly #maxCharacters: number;
  readonly #isProtected: (source: string) => boolean;
  /** Characters of each source. */
  readonly #sizes = new Map<string, number>();
  readonly #sources = new Map<string, Map<number, string>>();
  #forgotten: readonly PositionChange[] = [];
  #characters = 0;

  /** Refused rows of a protected source are forgotten last. */
  constructor(max = maxCharacters, isProtected: (source: string) => boolean = () => false) {
    this.#maxCharacters = max;
    this.#isProtected = isProtected;
  }

  /** Takes over what was kept; false when it is something else. */
  load(source: string, name: string, text: string): boolean {
    const [, digit] = namePattern.exec(name) ?? [];
    if (digit === undefined) return false;
    this.#put(source, Number.parseInt(digit, 16), text);
    return true;
  }

  /** Begins to take rows of a source at `now`, in microseconds. One take of a source at a time. */
  take(source: string, now: number, { transport, anew, again }: Coming): RefusedTake {
    const hour = Math.floor(now / 3_600_000_000);
    const kept = this.#sources.get(source) ?? new Map<number, string>();
    const open = new Map<number, Map<string, Known>>();
    const opened = (at: number): Map<string, Known> => {
      const rows = open.get(at) ?? readText(kept.get(at) ?? '', hour - maxHours);
      open.set(at, rows);
      return rows;
    };
    for (const [at, text] of kept) {
      if (anew) for (const [print, known] of opened(at)) opened(at).set(print, { ...known, [transport]: 0 });
      else if (hourOf(text) < hour - maxHours) opened(at);
    }
    const times = new Map<string, number>();
    const counts = (print: string): boolean => {
      const rows = opened(Number.parseInt(print.slice(0, 1), 16) % buckets);
      const short = Buffer.from(print.slice(0, 16), 'hex').toString('base64url');
      const before = rows.get(short) ?? { counted: 0, stream: 0, poll: 0 };
      const time = (times.get(short) ?? 0) + 1;
      times.set(short, time);
      const number = again ? Math.max(before[transport], time) : before[transport] + 1;
      const counted = Math.max(before.counted, number);
      // Behind the others: the oldest are forgotten first.
      rows.delete(short);
      rows.set(short, { ...before, [transport]: number, counted, hour });
      return counted > before.counted;
    };
    let written: [number, string][] | null = null;
    const texts = (): [number, string][] => {
      written ??= [...open]
        .map(([at, rows]): [number, string] => [
          at,
          writeText(rows, maxPositionLength - source.length - nameOf(at).length),
        ])
        .filter(([at, text]) => text !== (kept.get(at) ?? ''));
      return written;
    };
    const forgotten = this.#forgotten.slice(0, maxForgotten);
    return {
      counts,
      get changes() {
        const own = texts().map(([at, text]) => ({ source, endpoint: nameOf(at), value: text === '' ? null : text }));
        return [...forgotten, ...own];
      },
      committed: () => {
        this.#forgotten = this.#forgotten.filter((one) => !forgotten.includes(one));
        for (const [at, text] of texts()) this.#put(source, at, text);
        this.#trim();
      },
    };
  }

  #put(source: string, at: number, text: string): void {
    const kept = this.#sources.get(source) ?? new Map<number, string>();
    const added = text.length - (kept.get(at)?.length ?? 0);
    this.#characters += added;
    this.#sizes.set(source, (this.#sizes.get(source) ?? 0) + added);
    if (text === '') kept.delete(at);
    else kept.set(at, text);
    if (kept.size > 0) this.#sources.set(source, kept);
    else {
      this.#sources.delete(source);
      this.#sizes.delete(source);
    }
  }

  #trim(): void {
    if (this.#characters <= this.#maxCharacters) return;
    // The largest first; some more than has to be, as otherwise each page of a flood would look for them again.
    const bySize = [...this.#sizes].sort(([, a], [, b]) => b - a).map(([source]) => source);
    const inOrder = [...bySize.filter((one) => !this.#isProtected(one)), ...bySize.filter(this.#isProtected)];
    const forgotten: PositionChange[] = [];
    for (const source of inOrder) {
      if (this.#characters <= this.#maxCharacters * trimmedTo) break;
      for (const at of [...(this.#sources.get(source)?.keys() ?? [])]) {
        forgotten.push({ source, endpoint: nameOf(at), value: null });
        this.#put(source, at, '');
      }
    }
    this.#forgotten = [...this.#forgotten, ...forgotten];
  }
}

function nameOf(at: number): string {
  return `refused/${at.toString(16)}`;
}

const rowPattern = /^([\w-]{11})([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)$/;

/** The rows of a text, oldest first, without those from before `since`; what cannot be read is left out. */
function readText(text: string, since: number): Map<string, Known> {
  const rows = new Map<string, Known>();
  for (const line of text.split(' ')) {
    const [, print, ...rest] = rowPattern.exec(line) ?? [];
    const [hour = 0, counted = 0, stream = 0, poll = 0] = rest.map((number) => Number.parseInt(number, 36));
    if (print !== undefined && hour >= since) rows.set(print, { hour, counted, stream, poll });
  }
  return rows;
}

/** As many of the newest rows as so many characters hold. */
function writeText(rows: ReadonlyMap<string, Known>, maxLength: number): string {
  const lines: string[] = [];
  let left = maxLength;
  for (const [print, { hour, counted, stream, poll }] of [...rows].reverse()) {
    const line = `${print}${[hour, counted, stream, poll].map((number) => number.toString(36)).join('.')}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.reverse().join(' ');
}

/** The hour of a text's oldest row. */
function hourOf(text: string): number {
  const [line = ''] = text.split(' ', 1);
  return Number.parseInt(rowPattern.exec(line)?.[2] ?? '0', 36);
}
