import type { Micros } from '../../contract/timestamp.ts';
import { pagesAt } from '../../store/common/batch.ts';
import { changedGaps } from '../../store/gaps.ts';
import { labelBytes } from '../../store/label.ts';
import type { AppendResult, Batch, GapChange, NewObservation, PositionChange, StoredGap } from '../../store/port.ts';
import type { Definitions, LabelerKey } from '../../store/roster.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import { micros, second } from '../../store/time.ts';
import { shortDelay } from '../state/filled-in.ts';

/**
 * Maximum number of kept keys; the same maximum applies to labelers with new definitions and to removals of
 * positions.
 */
const maxNamed = 2_000;
/** Maximum total length of the definitions that a standby keeps, in characters. */
const maxDefinitionsLength = 32 * 1024 * 1024;
/** Maximum number of labelers whose last page a standby remembers: the maximum number of known labelers. */
const maxPages = 20_000;

/** Data that a standby keeps in memory until it becomes the writer. */
export class Kept {
  readonly rows: RowBuffer;
  readonly gaps = new OwnGaps();
  readonly #standby: Pick<StoreStandby, 'identityOf' | 'knows'>;
  readonly #dropped: (rows: number) => void;
  readonly #positions = new Map<string, PositionChange>();
  /** Removals of the positions of old endpoints, and of the positions of labelers that left the roster. */
  readonly #removed = new Map<string, PositionChange>();
  /** Time of the last page of each source. */
  readonly #pages = new Map<string, Micros>();
  readonly #keys = new Map<string, LabelerKey>();
  readonly #definitions = new Map<string, Definitions>();
  #definitionsLength = 0;
  #pagesAt: Micros | null = null;

  /** Calls `dropped` with the number of rows that were dropped because the limits were exceeded. */
  constructor(
    standby: Pick<StoreStandby, 'identityOf' | 'knows'>,
    limits: BufferLimits,
    dropped: (rows: number) => void,
  ) {
    this.#standby = standby;
    this.rows = new RowBuffer(limits);
    this.#dropped = dropped;
  }

  /** Time of the last page, or null before the first page. */
  get pagesAt(): Micros | null {
    return this.#pagesAt;
  }

  /** Positions of the standby with the times of their pages, and the newest removals of positions. */
  get positions(): Iterable<PositionChange> {
    return [...this.#removed.values(), ...this.#positions.values()];
  }

  get keys(): Iterable<LabelerKey> {
    return this.#keys.values();
  }

  get definitions(): Iterable<Definitions> {
    return this.#definitions.values();
  }

  /**
   * Keeps the positions, and the rows that neither the store nor this memory contains; reports the other rows as
   * duplicates. Then drops rows beyond the limits.
   */
  append(batch: Batch): AppendResult {
    const duplicates: number[] = [];
    for (const [i, observation] of batch.observations.entries()) {
      const identity = this.#standby.identityOf(observation.label);
      if (this.#standby.knows(identity) || this.rows.has(identity)) duplicates.push(i);
      else
        this.rows.add(identity, { observation, acceptedAt: batch.at, emittedAfter: this.#emittedAfter(observation) });
    }
    for (const position of batch.positions) this.#putPosition(position, batch.at);
    this.#pagesAt = pagesAt(batch) ?? this.#pagesAt;
    this.#drop(batch.at);
    return { accepted: batch.observations.length - duplicates.length, duplicates, first: null, last: null };
  }

  /**
   * Keeps a position, or its removal. A position whose removal is no longer kept stays in the store until the next
   * start, which removes it.
   */
  #putPosition(position: PositionChange, at: Micros): void {
    const { source, endpoint, value } = position;
    const name = `${source} ${endpoint}`;
    if (value === null) {
      this.#positions.delete(name);
      keepNewest(this.#removed, name, position);
      return;
    }
    this.#removed.delete(name);
    this.#positions.set(name, { ...position, acceptedAt: at });
    keepNewest(this.#pages, source, at, maxPages);
  }

  putKeys(keys: readonly LabelerKey[]): void {
    for (const key of keys) keepNewest(this.#keys, `${key.did} ${key.key}`, key);
  }

  /**
   * Keeps the newest revision of each labeler, and reports all revisions as new. Drops the oldest revisions beyond the
   * limits; the writer has usually stored them, because it reads the same labelers.
   */
  putDefinitions(revisions: readonly Definitions[]): readonly boolean[] {
    for (const revision of revisions) {
      this.#dropDefinitions(revision.did);
      this.#definitions.set(revision.did, revision);
      this.#definitionsLength += revision.content.length;
      for (const oldest of this.#definitions.keys()) {
        if (this.#definitions.size <= maxNamed && this.#definitionsLength <= maxDefinitionsLength) break;
        this.#dropDefinitions(oldest);
      }
    }
    return revisions.map(() => true);
  }

  clear(): void {
    this.gaps.clear();
    this.rows.drain();
    for (const named of [this.#positions, this.#removed, this.#pages, this.#keys, this.#definitions]) named.clear();
    this.#definitionsLength = 0;
    this.#pagesAt = null;
  }

  #dropDefinitions(did: string): void {
    this.#definitionsLength -= this.#definitions.get(did)?.content.length ?? 0;
    this.#definitions.delete(did);
  }

  /**
   * Returns the time after which a label was emitted: the time of the preceding page of its source, without the time for
   * which a live label may have waited while that page was stored. Returns 0 for a label that is not live or has no
   * preceding page, because such a label may have been emitted at any earlier time.
   */
  #emittedAfter({ label, live }: NewObservation): Micros {
    const before = live === false ? undefined : this.#pages.get(label.src);
    return micros(Math.max(0, (before ?? 0) - shortDelay));
  }

  /** Drops rows beyond the limits, and records a gap for the time in which they were emitted. */
  #drop(now: Micros): void {
    const gone = this.rows.trim(now);
    for (const { observation, acceptedAt, emittedAfter } of gone) {
      const start = micros(Math.floor(Math.min(emittedAfter, acceptedAt) / second) * second);
      const end = micros(Math.floor(acceptedAt / second) * second + second);
      const gap = { source: observation.label.src, start, end, reason: 'ingest_paused' as const };
      this.gaps.change({ kind: 'record', gap });
    }
    if (gone.length > 0) this.#dropped(gone.length);
  }
}

function keepNewest<T>(named: Map<string, T>, name: string, value: T, max = maxNamed): void {
  named.delete(name);
  named.set(name, value);
  const [oldest] = named.keys();
  if (named.size > max && oldest !== undefined) named.delete(oldest);
}

/** Gaps of a standby by source. The source is null for a gap of the whole standby. */
class OwnGaps {
  readonly #gaps = new Map<string | null, StoredGap[]>();

  /** Records or withdraws a gap; ignores an empty gap. */
  change(change: GapChange): void {
    const { gap } = change;
    if (gap.start >= gap.end) return;
    const before = this.of(gap.source);
    const after = changedGaps(before, change);
    if (after.length > 0) this.#gaps.set(gap.source, after);
    else this.#gaps.delete(gap.source);
  }

  of(source: string | null): StoredGap[] {
    return this.#gaps.get(source) ?? [];
  }

  clear(): void {
    this.#gaps.clear();
  }
}

/** Bounds of the rows that a standby keeps. */
interface BufferLimits {
  /** Maximum number of rows. */
  readonly rows: number;
  /** Maximum total size of the rows, in bytes. */
  readonly bytes: number;
  /** Maximum age of a row, in microseconds. */
  readonly age: number;
}

/** Default bounds: several times as many labels as the whole network currently emits in half an hour. */
export const defaultBufferLimits: BufferLimits = { rows: 200_000, bytes: 64 * 1024 * 1024, age: 3_600_000_000 };

/** Memory of a kept row in addition to its fields, in bytes. */
const rowOverheadBytes = 200;

/** A kept row, and the time of its acceptance by the standby. */
export interface KeptRow {
  readonly observation: NewObservation;
  readonly acceptedAt: Micros;
  /** Time after which the label was emitted; 0 if it may be older. */
  readonly emittedAfter: Micros;
}

/** Rows of one source, oldest first. */
interface SourceRows {
  readonly rows: Map<string, Held>;
  bytes: number;
}

interface Held {
  readonly row: KeptRow;
  /** Sequence number of the row in the buffer. */
  readonly number: number;
}

/**
 * Rows that a standby accepted and the store does not contain yet, within bounds. All sources share the bounds: when
 * they are exceeded, the source with the largest share loses its oldest rows, so that a labeler that floods the standby
 * displaces no rows of other labelers.
 */
export class RowBuffer {
  readonly #limits: BufferLimits;
  readonly #sources = new Map<string, SourceRows>();
  readonly #sourceOf = new Map<string, string>();
  #bytes = 0;
  #number = 0;

  constructor(limits = defaultBufferLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sourceOf.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Acceptance time of the oldest row, or null if the buffer is empty. */
  get oldest(): Micros | null {
    let oldest: Micros | null = null;
    for (const { rows } of this.#sources.values()) {
      const at = firstOf(rows)?.[1].row.acceptedAt ?? null;
      if (at !== null && (oldest === null || at < oldest)) oldest = at;
    }
    return oldest;
  }

  has(identity: string): boolean {
    return this.#sourceOf.has(identity);
  }

  /** Adds a row that the buffer does not contain. */
  add(identity: string, row: KeptRow): void {
    const { src } = row.observation.label;
    const own = this.#sources.get(src) ?? { rows: new Map(), bytes: 0 };
    this.#sources.set(src, own);
    this.#sourceOf.set(identity, src);
    this.#number += 1;
    own.rows.set(identity, { row, number: this.#number });
    own.bytes += bytesOf(row);
    this.#bytes += bytesOf(row);
  }

  /** Removes a row that the store contains. */
  delete(identity: string): void {
    const src = this.#sourceOf.get(identity);
    const own = src === undefined ? undefined : this.#sources.get(src);
    const held = own?.rows.get(identity);
    if (src === undefined || own === undefined || held === undefined) return;
    const bytes = bytesOf(held.row);
    own.rows.delete(identity);
    own.bytes -= bytes;
    this.#bytes -= bytes;
    this.#sourceOf.delete(identity);
    if (own.rows.size === 0) this.#sources.delete(src);
  }

  /**
   * Removes and returns the rows that are too old. While the bounds are exceeded, also removes the oldest rows of the
   * sources with the largest shares.
   */
  trim(now: Micros): KeptRow[] {
    const dropped: KeptRow[] = [];
    for (const own of this.#sources.values()) {
      this.#drop(own, dropped, ({ acceptedAt }) => now - acceptedAt > this.#limits.age);
    }
    while (this.#isOver()) {
      const [largest, second] = this.#largest();
      if (largest === null) break;
      // Drop several rows per search, because each search visits all sources and each iteration over a map visits its
      // deleted rows.
      let least = Math.max(1, largest.rows.size >> 6);
      this.#drop(largest, dropped, () => {
        least -= 1;
        return this.#isOver() && (least >= 0 || this.#shareOf(largest) > second);
      });
    }
    return dropped;
  }

  /** Removes and returns all rows, oldest first. */
  drain(): KeptRow[] {
    const all = [...this.#sources.values()].flatMap(({ rows }) => [...rows.values()]);
    this.#sources.clear();
    this.#sourceOf.clear();
    this.#bytes = 0;
    return all.sort((a, b) => a.number - b.number).map(({ row }) => row);
  }

  #isOver(): boolean {
    return this.size > this.#limits.rows || this.#bytes > this.#limits.bytes;
  }

  /** Returns the share of a source: the larger of its fractions of the two bounds. */
  #shareOf({ rows, bytes }: SourceRows): number {
    return Math.max(rows.size / this.#limits.rows, bytes / this.#limits.bytes);
  }

  /** Returns the source with the largest share, and the second-largest share. */
  #largest(): [largest: SourceRows | null, second: number] {
    let largest: SourceRows | null = null;
    let [first, second] = [0, 0];
    for (const own of this.#sources.values()) {
      const share = this.#shareOf(own);
      if (share > first) [largest, first, second] = [own, share, first];
      else if (share > second) second = share;
    }
    return [largest, second];
  }

  /** Removes the oldest rows of a source while `isDue` returns true. */
  #drop({ rows }: SourceRows, dropped: KeptRow[], isDue: (row: KeptRow) => boolean): void {
    for (const [identity, { row }] of rows) {
      if (!isDue(row)) return;
      this.delete(identity);
      dropped.push(row);
    }
  }
}

function firstOf(rows: Map<string, Held>): [string, Held] | undefined {
  return rows.entries().next().value;
}

function bytesOf({ observation }: KeptRow): number {
  return labelBytes(observation.label) + rowOverheadBytes;
}
