import type { Micros } from '../../src/contract/timestamp.ts';
import type { WindowReader } from '../../src/labels/publish/window/window-reader.ts';
import type { LabelersCounters } from '../../src/store/counts.ts';
import { StoreError } from '../../src/store/errors.ts';
import { clip } from '../../src/store/gaps.ts';
import type { Position, RefusalCount, StoredGap } from '../../src/store/port.ts';
import type { Purge } from '../../src/store/removals.ts';
import { day, hour, type Interval, micros, minute } from '../../src/store/time.ts';

/** A row of an in-memory store. */
export interface MemoryRow {
  readonly labeler: string;
  readonly at: number;
  readonly removed?: boolean;
}

/** Content of an in-memory store. */
export interface MemoryContent {
  readonly startedAt: number;
  /** Earliest time that can be queried; defaults to `startedAt`. */
  readonly floor?: number;
  readonly rows: readonly MemoryRow[];
  readonly gaps?: readonly StoredGap[];
  readonly positions?: readonly Position[];
  readonly purges?: readonly Purge[];
  readonly counters?: LabelersCounters | null;
  /** Refused labels, each entry with the hour in which they are counted. */
  readonly refusals?: readonly (RefusalCount & { readonly at: number })[];
  readonly revision?: number;
  readonly observedThrough?: number;
}

/** Generation id of every in-memory store. */
const memoryGeneration = '00000000-0000-4000-8000-000000000000';

/** Creates the part of the store interface from which artifacts are generated. `content` is read at each call. */
export function windowStore(content: () => MemoryContent): ConstructorParameters<typeof WindowReader>[0] {
  const floorOf = ({ floor, startedAt }: MemoryContent): Micros => micros(floor ?? startedAt);
  const rowsIn = ({ start, end }: Interval): readonly MemoryRow[] => {
    const now = content();
    if (start < floorOf(now)) throw new StoreError('out_of_window', 'the interval begins before the floor');
    return now.rows.filter(({ at }) => at >= start && at < end);
  };
  return {
    epoch: async () => ({ generationId: memoryGeneration, startedAt: micros(content().startedAt) }),
    frontier: async () => {
      const now = content();
      const last = now.rows.reduce((newest, { at }) => Math.max(newest, at), floorOf(now) - 1);
      const through = now.observedThrough ?? last + 1;
      return {
        ...{ generationId: memoryGeneration, floor: floorOf(now), revision: now.revision ?? 0 },
        ...{ end: micros(last + 1), observedThrough: micros(through) },
      };
    },
    countsByLabeler: async (interval) =>
      [...Map.groupBy(rowsIn(interval), ({ labeler }) => labeler)].map(([labeler, own]) => ({ labeler, ...sums(own) })),
    countsOverTime: async ({ bucket, start, end }) => {
      const length = bucket === 'hour' ? hour : minute;
      if (start % length !== 0 || end % length !== 0)
        throw new Error(`the interval does not begin and end at a full ${bucket}`);
      if (end - start > (bucket === 'hour' ? 40 : 2) * day) throw new Error('the interval is too long');
      const groups = Map.groupBy(rowsIn({ start, end }), ({ labeler, at }) => `${Math.floor(at / length)} ${labeler}`);
      return [...groups].map(([name, own]) => {
        const [bucketAt, labeler] = name.split(' ');
        return { labeler: labeler ?? '', start: micros(Number(bucketAt) * length), ...sums(own) };
      });
    },
    labelerCounters: async () => content().counters ?? { since: micros(Number.MAX_SAFE_INTEGER), labelers: [] },
    refusals: async ({ start, end }) =>
      (content().refusals ?? [])
        .filter(({ at }) => Math.floor(at / hour) >= Math.floor(start / hour) && at < end)
        .map(({ at: _, ...count }) => count),
    gaps: async (interval) => clip(content().gaps ?? [], interval),
    positions: async () => [...(content().positions ?? [])],
    purges: async () => [...(content().purges ?? [])],
    spaceRemoval: () => Promise.resolve(null),
  };
}

function sums(rows: readonly MemoryRow[]) {
  const removed = rows.filter((row) => row.removed === true).length;
  return { applied: rows.length - removed, removed };
}
