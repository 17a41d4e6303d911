import {
  maxRefusedRowsLength,
  type RefusedRows,
  type RefusedRowsChange,
  refusedRowBuckets,
} from '../../store/label.ts';
import type { Transport } from '../shares/telemetry.ts';
import type { AdmissionReason } from './admission.ts';

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

/** The refused rows of one page of a source. The memory keeps these rows only once they are durable. */
interface RefusedTake {
  /** Takes the next refused row, given by its fingerprint. Returns true if the row must be counted. */
  counts(print: string, reason: AdmissionReason): boolean;
  /** Changes to commit with the counts, after all rows were taken. */
  readonly changes: readonly RefusedRowsChange[];
  /** Applies the changes to the memory. Must be called once the changes are durable. */
  committed(): void;
}

/** A refused row at the time when it was counted; `number` is 3 if equal rows had been counted twice before. */
interface CountedRow {
  readonly source: string;
  readonly print: string;
  readonly reason: AdmissionReason;
  readonly number: number;
}

/** Result of adopting the counts of another process. */
export interface RefusedMerge {
  /** Rows that the other process has not counted. */
  readonly refusals: readonly CountedRow[];
  /** Changes to the buckets of the other process. */
  readonly changes: readonly RefusedRowsChange[];
}

/** One delivery of rows by a transport. */
interface Delivery {
  readonly transport: Transport;
  /** True if the transport starts over, so that earlier rows may arrive again. */
  readonly startsOver: boolean;
  /**
   * True if the transport may have delivered some of these rows in its preceding delivery. An equal row then counts as
   * the same row.
   */
  readonly again: boolean;
}

/**
 * Maximum age of a remembered row, in hours: a margin above 48 h, because reading that starts over requests no older
 * rows.
 */
const maxHours = 50;
/**
 * Maximum total length of the texts of all sources, in characters. If the texts are longer, the memory forgets the
 * largest sources.
 */
const maxCharacters = 16_000_000;
/**
 * Maximum number of counted rows in the journal. Further rows displace the oldest rows, which may then be counted
 * twice or not at all.
 */
const maxJournal = 50_000;
/** Fraction of `maxCharacters` that remains after trimming. */
const trimmedTo = 0.95;
/** Maximum number of forgotten buckets that one commit removes from the store. */
const maxForgotten = 100;

/**
 * Remembers the newest refused rows, so that a row is counted once even if it is read by stream and by poll, or again
 * after a restart. A labeler may send equal rows, so equal rows are numbered: the third equal row from the stream and
 * the third from polls count as the same row. The fingerprints of a source's rows determine their buckets. A bucket
 * is one string in memory and in the store, and is committed with the counts. The memory is bounded per source (about
 * 3,000 rows), in total, and by age.
 */
export class RefusedMemory {
  readonly #maxCharacters: number;
  readonly #isProtected: (source: string) => boolean;
  /** Number of stored characters of each source. */
  readonly #sizes = new Map<string, number>();
  readonly #sources = new Map<string, Map<number, string>>();
  #forgotten: readonly RefusedRowsChange[] = [];
  #characters = 0;
  /**
   * Rows that this memory counted while another process counts the refused rows of the store; null without a journal.
   */
  #journal: CountedRow[] | null = null;

  /** Creates a memory of `max` characters. Rows of protected sources are forgotten last. */
  constructor(max = maxCharacters, isProtected: (source: string) => boolean = () => false) {
    this.#maxCharacters = max;
    this.#isProtected = isProtected;
  }

  /** Loads a stored bucket. */
  load({ source, bucket, rows }: RefusedRows): void {
    this.#put(source, bucket, rows);
  }

  /**
   * Begins the journal. Must be called after the stored buckets are loaded, by a process that does not store counts.
   */
  keepJournal(): void {
    this.#journal = [];
  }

  /**
   * Ends the journal and adopts the counts of the process that counted until `now`, in microseconds. `stored` are the
   * buckets of that process. The merged count of a row is the larger of the counts of both processes. The numbers of
   * deliveries are those of this process, because reading continues from its positions. The buckets of sources for
   * which `reads` returns false are adopted unchanged. Returns the rows that the other process has not counted, and
   * the changes to its buckets.
   */
  merge(stored: readonly RefusedRows[], now: number, reads: (source: string) => boolean): RefusedMerge {
    const since = Math.floor(now / 3_600_000_000) - maxHours;
    const theirs = new Map(stored.map((one) => [keyOf(one), one]));
    const counted = (source: string, print: string): number => {
      const rows = theirs.get(keyOf({ source, bucket: bucketOf(print) }))?.rows ?? '';
      return readText(rows, since).get(shortOf(print))?.counted ?? 0;
    };
    const refusals = (this.#journal ?? []).filter(({ source, print, number }) => number > counted(source, print));
    this.#journal = null;
    const changes: RefusedRowsChange[] = [];
    const own = [...this.#sources].flatMap(([source, buckets]) =>
      [...buckets.keys()].map((bucket) => ({ source, bucket })),
    );
    const places = new Map(
      [...stored, ...own].map(({ source, bucket }) => [keyOf({ source, bucket }), { source, bucket }]),
    );
    for (const { source, bucket } of places.values()) {
      const before = theirs.get(keyOf({ source, bucket }))?.rows ?? '';
      const ours = this.#sources.get(source)?.get(bucket) ?? '';
      const rows = reads(source) ? mergedText(before, ours, since) : before;
      if (rows !== ours) this.#put(source, bucket, rows);
      if (rows !== before) changes.push({ source, bucket, rows: rows === '' ? null : rows });
    }
    return { refusals, changes };
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
    const journal: CountedRow[] = [];
    const counts = (print: string, reason: AdmissionReason): boolean => {
      const rows = opened(bucketOf(print));
      const short = shortOf(print);
      const before = rows.get(short) ?? { counted: 0, stream: 0, poll: 0 };
      const time = (times.get(short) ?? 0) + 1;
      times.set(short, time);
      const number = again ? Math.max(before[transport], time) : before[transport] + 1;
      const counted = Math.max(before.counted, number);
      // Insert the row again at the end, because the oldest rows are forgotten first.
      rows.delete(short);
      rows.set(short, { ...before, [transport]: number, counted, hour });
      if (this.#journal !== null && counted > before.counted) journal.push({ source, print, reason, number: counted });
      return counted > before.counted;
    };
    let written: [number, string][] | null = null;
    const texts = (): [number, string][] => {
      written ??= [...open]
        .map(([at, rows]): [number, string] => [at, writeText(rows, maxRefusedRowsLength)])
        .filter(([at, text]) => text !== (kept.get(at) ?? ''));
      return written;
    };
    const forgotten = this.#forgotten.slice(0, maxForgotten);
    return {
      counts,
      get changes() {
        const own = texts().map(([bucket, text]) => ({ source, bucket, rows: text === '' ? null : text }));
        return [...forgotten, ...own];
      },
      committed: () => {
        this.#forgotten = this.#forgotten.filter((one) => !forgotten.includes(one));
        for (const [at, text] of texts()) this.#put(source, at, text);
        if (this.#journal !== null) this.#journal = [...this.#journal, ...journal].slice(-maxJournal);
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
    // Forget the largest sources first, and more sources than necessary, so that a flood does not cause a sort for
    // each page.
    const bySize = [...this.#sizes].sort(([, a], [, b]) => b - a).map(([source]) => source);
    const inOrder = [...bySize.filter((one) => !this.#isProtected(one)), ...bySize.filter(this.#isProtected)];
    const forgotten: RefusedRowsChange[] = [];
    for (const source of inOrder) {
      if (this.#characters <= this.#maxCharacters * trimmedTo) break;
      for (const bucket of [...(this.#sources.get(source)?.keys() ?? [])]) {
        forgotten.push({ source, bucket, rows: null });
        this.#put(source, bucket, '');
      }
    }
    this.#forgotten = [...this.#forgotten, ...forgotten];
  }
}

/** Merges the rows of one bucket of two processes, and formats the result as a bucket, oldest row first. */
function mergedText(theirs: string, ours: string, since: number): string {
  if (theirs === ours) return ours;
  const [stored, own] = [readText(theirs, since), readText(ours, since)];
  const merged = [...new Set([...stored.keys(), ...own.keys()])].map((print): [string, Known] => {
    const { hour, counted, stream, poll } = own.get(print) ?? { hour: 0, counted: 0, stream: 0, poll: 0 };
    const other = stored.get(print) ?? { hour: 0, counted: 0 };
    return [print, { hour: Math.max(hour, other.hour), counted: Math.max(counted, other.counted), stream, poll }];
  });
  return writeText(new Map(merged.sort(([, a], [, b]) => a.hour - b.hour)), maxRefusedRowsLength);
}

function keyOf({ source, bucket }: { readonly source: string; readonly bucket: number }): string {
  return `${bucket} ${source}`;
}

/** Returns the bucket of a row, given by its fingerprint. */
function bucketOf(print: string): number {
  return Number.parseInt(print.slice(0, 1), 16) % refusedRowBuckets;
}

/** Returns the part of a fingerprint that is remembered. */
function shortOf(print: string): string {
  return Buffer.from(print.slice(0, 16), 'hex').toString('base64url');
}

const rowPattern = /^([\w-]{11})([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)$/;

/** Parses the rows of a bucket, oldest first. Omits rows from before `since` and unreadable rows. */
function readText(text: string, since: number): Map<string, Known> {
  const rows = new Map<string, Known>();
  for (const line of text.split(' ')) {
    const [, print, ...rest] = rowPattern.exec(line) ?? [];
    const [hour = 0, counted = 0, stream = 0, poll = 0] = rest.map((number) => Number.parseInt(number, 36));
    if (print !== undefined && hour >= since) rows.set(print, { hour, counted, stream, poll });
  }
  return rows;
}

/** Formats the newest rows as a bucket of at most `max` characters. */
function writeText(rows: ReadonlyMap<string, Known>, max: number): string {
  const lines: string[] = [];
  let left = max;
  for (const [print, { hour, counted, stream, poll }] of [...rows].reverse()) {
    const line = `${print}${[hour, counted, stream, poll].map((number) => number.toString(36)).join('.')}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.reverse().join(' ');
}

/** Returns the hour of a bucket's oldest row, or 0 if that row is unreadable. */
function hourOf(text: string): number {
  const [line = ''] = text.split(' ', 1);
  return Number.parseInt(rowPattern.exec(line)?.[2] ?? '0', 36);
}
