import type { Micros } from '../../contract/timestamp.ts';
import type { AppendResult, Batch, NewObservation, PositionChange } from '../../store/port.ts';
import type { Definitions, LabelerKey } from '../../store/roster.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import { micros, second } from '../../store/time.ts';
import { OwnGaps } from './own-gaps.ts';
import { type BufferLimits, RowBuffer } from './row-buffer.ts';

/** Maximum number of keys, and of labelers with new definitions, that a standby keeps. */
const maxNamed = 2_000;

/** Data that a standby keeps in memory until it becomes the writer. */
export class Kept {
  readonly rows: RowBuffer;
  readonly gaps = new OwnGaps();
  readonly #standby: Pick<StoreStandby, 'identityOf' | 'knows'>;
  readonly #dropped: (rows: number) => void;
  readonly #positions = new Map<string, PositionChange>();
  /** Time of the last page of each source. */
  readonly #pages = new Map<string, Micros>();
  readonly #keys = new Map<string, LabelerKey>();
  readonly #definitions = new Map<string, Definitions>();

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

  /** Positions of the standby. */
  get positions(): Iterable<PositionChange> {
    return this.#positions.values();
  }

  get keys(): Iterable<LabelerKey> {
    return this.#keys.values();
  }

  get definitions(): Iterable<Definitions> {
    return this.#definitions.values();
  }

  /**
   * Keeps the positions, and the rows that neither the store nor this memory contains; reports the other rows as
   * duplicates.
   */
  append(batch: Batch): AppendResult {
    const duplicates: number[] = [];
    for (const [i, observation] of batch.observations.entries()) {
      const identity = this.#standby.identityOf(observation.label);
      if (this.#standby.knows(identity) || this.rows.has(identity)) duplicates.push(i);
      else
        this.rows.add(identity, { observation, acceptedAt: batch.at, emittedAfter: this.#emittedAfter(observation) });
    }
    for (const position of batch.positions) {
      this.#positions.set(`${position.source} ${position.endpoint}`, position);
      this.#pages.set(position.source, batch.at);
    }
    this.#drop(batch.at);
    return { accepted: batch.observations.length - duplicates.length, duplicates, first: null, last: null };
  }

  putKey(key: LabelerKey): void {
    keepNewest(this.#keys, `${key.did} ${key.key}`, key);
  }

  putDefinitions(definitions: Definitions): void {
    keepNewest(this.#definitions, definitions.did, definitions);
  }

  clear(): void {
    this.gaps.clear();
    this.rows.drain();
    for (const named of [this.#positions, this.#pages, this.#keys, this.#definitions]) named.clear();
  }

  /**
   * Returns the time after which a label was emitted: that of the preceding page of its source. Returns 0 for a label
   * that is not live, because it may have been emitted at any earlier time.
   */
  #emittedAfter({ label, live }: NewObservation): Micros {
    return (live === false ? null : this.#pages.get(label.src)) ?? micros(0);
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

function keepNewest<T>(named: Map<string, T>, name: string, value: T): void {
  named.delete(name);
  named.set(name, value);
  const [oldest] = named.keys();
  if (named.size > maxNamed && oldest !== undefined) named.delete(oldest);
}
