import { dayStart } from '../../time.ts';
import type { DayForm } from '../base/files.ts';
import { schemaVersion } from '../base/migrate.ts';
import type { CheckedGroups } from '../blocks/group-sums.ts';
import type { DayFile } from '../schema/day-file.ts';
import { labelersCountedFrom, metaNames } from '../schema/day-schema.ts';
import type { DayCounters } from './day-counters.ts';
import { unpackCounters } from './packed-counters.ts';

/** Reads the labeler counters of a day's file. */
export class StoredLabelerCounters {
  readonly #file: DayFile;
  readonly #day: number;
  readonly #form: DayForm;
  readonly #groups: CheckedGroups | null;
  /** Returns a number that the file stores under a name, or null if the file has no such number. */
  readonly #meta: (name: string) => number | null;

  constructor(
    file: DayFile,
    { day, form }: { readonly day: number; readonly form: DayForm },
    groups: CheckedGroups | null,
    meta: (name: string) => number | null,
  ) {
    this.#file = file;
    this.#day = day;
    this.#form = form;
    this.#groups = groups;
    this.#meta = meta;
  }

  /**
   * Returns the stamp from which the rows of the day are counted, or the end of the day if the file has no counters.
   */
  from(): number {
    if (!this.#isStored()) return dayStart(this.#day + 1);
    return this.#meta(metaNames.countedFrom) ?? dayStart(this.#day);
  }

  /** Yields the numeric id and the counters of every labeler. */
  *all(): Generator<readonly [source: number, counters: DayCounters]> {
    for (const [source, packed] of this.packed()) yield [source, this.unpacked(source, packed)];
  }

  /** Yields the numeric id and the packed counters of every labeler. */
  *packed(): Generator<readonly [source: number, packed: Buffer]> {
    if (!this.#isStored()) return;
    const rows = this.#groups
      ? this.#groups.table<readonly [number, Buffer]>('counter_labeler')
      : this.#file.all<[number, unknown]>('SELECT source, packed FROM counter_labeler ORDER BY source', []);
    for (const [source, packed] of rows) yield [source, Buffer.isBuffer(packed) ? packed : Buffer.alloc(0)];
  }

  /** Unpacks stored counters of a labeler. Throws `damaged` if they do not match their checksum. */
  unpacked(source: number, packed: Buffer): DayCounters {
    return unpackCounters(packed, source, this.#file.path);
  }

  /** Returns true if the file has counters. Not cached, because a writer may migrate an open day at any time. */
  #isStored(): boolean {
    return schemaVersion(this.#file.db) >= labelersCountedFrom[this.#form];
  }
}
