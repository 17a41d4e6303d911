import { StoreError } from '../../errors.ts';
import type { DayFile } from '../schema/day-file.ts';
import { type BlockPart, partSql } from './block-parts.ts';
import { type Key, smallestKey } from './blocks.ts';
import { CheckedBlocks } from './checked-blocks.ts';
import { CheckedGroups, type GroupPart, groupPartsOf } from './group-sums.ts';

/** A part of a sealed day that does not match its checksums. */
export interface ChecksumProblem {
  readonly part: BlockPart | GroupPart;
  readonly problem: string;
}

/** Key that sorts after the key of every row. */
const greatestKey: Key = [Buffer.alloc(64, 0xff), Number.MAX_SAFE_INTEGER];

/** Verifies every block and every checksum group of a sealed day, and yields the problems. */
export function* checkDay(file: DayFile, day: number): Generator<ChecksumProblem> {
  for (const part of Object.keys(partSql) as BlockPart[]) {
    const blocks = new CheckedBlocks(file, day, part);
    yield* problemsOf(part, function* () {
      for (const block of blocks.covering(smallestKey, greatestKey, 'oldest')) yield () => blocks.read(block);
    });
  }
  const groups = new CheckedGroups(file, day);
  for (const part of groupPartsOf(file)) {
    const found: ChecksumProblem[] = [];
    attempt(part, found, () => {
      for (const problem of groups.problems(part)) found.push({ part, problem });
    });
    yield* found;
  }
}

/** Runs reads and yields each failure as a problem. Stops if the next block cannot be located. */
function* problemsOf(part: ChecksumProblem['part'], reads: () => Generator<() => unknown>): Generator<ChecksumProblem> {
  const all = reads();
  for (;;) {
    const found: ChecksumProblem[] = [];
    const isLast = attempt(part, found, () => {
      const { done, value } = all.next();
      if (done) return true;
      attempt(part, found, value);
      return false;
    });
    yield* found;
    if (isLast !== false) return;
  }
}

/** Runs a read. If the read throws a store error, adds a problem to `found` and returns null. */
function attempt<T>(part: ChecksumProblem['part'], found: ChecksumProblem[], work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    found.push({ part, problem: error.message });
    return null;
  }
}
