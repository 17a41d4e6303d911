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

/** One batch of a source's rows. Decides which refused rows count; remembers them only after `committed`. */
export interface RefusedTake {
  /** Returns true if the next refused row, given by its fingerprint, counts. */
  counts(print: string): boolean;
  /** Position changes to commit with the counts, after all rows were recorded. */
  readonly changes: readonly PositionChange[];
  /** Call once the changes are durable. */
  committed(): void;
}

/** Delivery of rows by a transport. */
export interface Delivery {
  readonly transport: Transport;
  /** True if the transport starts over, so that earlier rows may arrive again. */
  readonly startsOver: boolean;
  /** True if the transport may have delivered some of these rows just before: an equal row is then the same row. */
  readonly again: boolean;
}

/** Number of texts over which a source's rows are distributed; each is stored like a position. */
const buckets = 16;
const namePattern = /^refused\/([0-9a-f])$/;
/** Reading starts over at most 48 h back, plus a margin of one hour: older rows do not arrive again. */
const maxHours = 50;
/** Maximum characters of all sources; beyond it the rows of the largest source are forgotten. */
const maxCharacters = 16_000_000;
/** Fraction of the bound that remains after trimming. */
const trimmedTo = 0.95;
/** Maximum forgotten texts that one commit removes. */
const maxForgotten = 100;

/**
 * Remembers recently refused rows, so that a row counts once, even if stream and poll deliver it, or a restart repeats it.
 * Equal rows are numbered: the third one by stream and the third one by poll are the same. Stored with the positions and
 * committed with the counts. Bounded per source (about 3,000 rows), in total, and by age.
 */
export class RefusedMemory {
  readonly #maxCharacters: number;
  readonly #isProtected: (source: string) => boolean;
  /** Characters of each source. */
  readonly #sizes = new Map<string, number>();
  readonly #sources = new Map<string, Map<number, string>>();
  #forgotten: readonly PositionChange[] = [];
  #characters = 0;

  /** Creates a memory of `max` characters. Rows of protected sources are forgotten last. */
  constructor(max = maxCharacters, isProtected: (source: string) => boolean = () => false) {
    this.#maxCharacters = max;
    this.#isProtected = isProtected;
  }

  /** Loads a stored text; returns false if `name` is not that of a text of refused rows. */
  load(source: string, name: string, text: string): boolean {
    const [, digit] = namePattern.exec(name) ?? [];
    if (digit === undefined) return false;
    this.#put(source, Number.parseInt(digit, 16), text);
    return true;
  }

  /** Begins a batch of a source at `now`, in microseconds. A source may have one batch at a time. */
  take(source: string, now: number, { transport, startsOver, again }: Delivery): RefusedTake {
    const hour = Math.floor(now / 3_600_000_000);
    const kept = this.#sources.get(source) ?? new Map<number, string>();
    const open = new Map<number, Map<string, Known>>();
    const opened = (at: number): Map<string, Known> => {
      const rows = open.get(at) ?? readText(kept.get(at) ?? '', hour - maxHours);
      open.set(at, rows);
      return rows;
    };
    for (const [at, text] of kept) {
      if (startsOver) for (const [print, known] of opened(at)) opened(at).set(print, { ...known, [transport]: 0 });
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
      // Reinserted at the end, because the oldest are forgotten first.
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
    // Removes more than necessary, so that not every page of a flood has to trim again.
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

/** Parses the rows of a text, oldest first. Omits rows from before `since`, and unreadable ones. */
function readText(text: string, since: number): Map<string, Known> {
  const rows = new Map<string, Known>();
  for (const line of text.split(' ')) {
    const [, print, ...rest] = rowPattern.exec(line) ?? [];
    const [hour = 0, counted = 0, stream = 0, poll = 0] = rest.map((number) => Number.parseInt(number, 36));
    if (print !== undefined && hour >= since) rows.set(print, { hour, counted, stream, poll });
  }
  return rows;
}

/** Formats the newest rows that fit in `maxLength` characters. */
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

/** Returns the hour of a text's oldest row. */
function hourOf(text: string): number {
  const [line = ''] = text.split(' ', 1);
  return Number.parseInt(rowPattern.exec(line)?.[2] ?? '0', 36);
}
