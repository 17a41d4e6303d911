import type { Micros } from '../../contract/timestamp.ts';
import { changedGaps } from '../../store/gaps.ts';
import type { AppendResult, Batch, GapChange, NewObservation, PositionChange, StoredGap } from '../../store/port.ts';
import type { Definitions, LabelerKey } from '../../store/roster.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import { micros, second } from '../../store/time.ts';
import { shortDelay } from '../state/filled-in.ts';
import { type BufferLimits, RowBuffer } from './row-buffer.ts';

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

  /** Positions of the standby, and the newest removals of positions. */
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
    this.#positions.set(name, position);
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
export class OwnGaps {
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
