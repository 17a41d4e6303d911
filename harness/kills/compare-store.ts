import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Sim } from '../../sim/index.ts';
import { readPosition } from '../../src/labels/label/position.ts';
import { openStoreReader } from '../../src/store/open.ts';
import type { Position, StoreReader } from '../../src/store/port.ts';
import { type Interval, micros } from '../../src/store/time.ts';
import { EmittedLabels } from './emitted-labels.ts';

/** Interval between two comparisons while labels are still being read, in milliseconds. */
const compareMs = 200;
/** Maximum time without progress, in milliseconds. An instrument that exceeds it counts as stuck. */
const stuckMs = 90_000;

/** Result of comparing a store with the labels emitted so far. */
export interface Comparison {
  readonly rows: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly emitted: number;
  /** True if the numbers of stored and of refused labels equal the expected numbers. */
  readonly whole: boolean;
  /** One message for each labeler whose rows are not all stored. */
  readonly missing: readonly string[];
  readonly problems: readonly string[];
}

/** Compares the store of an interrupted process with the labels that a network emits. */
export class StoreComparison {
  readonly #sim: Sim;
  readonly #url: string;
  #emitted: EmittedLabels | null = null;

  constructor(sim: Sim, url: string) {
    this.#sim = sim;
    this.#url = url;
  }

  /** Compares the store with the labels emitted so far. With `verified`, each day is also verified. */
  async compare({ verified = true } = {}): Promise<Comparison> {
    const store = await openStoreReader(this.#url);
    const problems: string[] = [];
    try {
      const { startedAt } = await store.epoch();
      const span: Interval = { start: startedAt, end: micros(Date.now() * 1000 + 3_600_000_000) };
      // Read the positions before the rows: an instrument may still be storing both.
      const positions = await store.positions();
      const counts = new Map((await store.countsByLabeler(span)).map(({ labeler, ...actions }) => [labeler, actions]));
      const refused = await refusedIn(store, span);
      this.#emitted ??= new EmittedLabels(this.#sim, startedAt);
      const emitted = this.#emitted;
      emitted.update();
      problems.push(...positionsAhead(positions, counts, emitted), ...excess(counts, refused, emitted));
      if (verified) for await (const day of store.verify()) problems.push(...day.problems);
      const rows = [...counts.values()].reduce((sum, { applied, removed }) => sum + applied + removed, 0);
      const whole = isDeepStrictEqual(counts, emitted.byAction) && isDeepStrictEqual(refused, { ...emitted.refused });
      const missing = missingRows(positions, counts, emitted);
      return { rows, refused, emitted: emitted.accepted, whole, missing, problems };
    } finally {
      await store.close();
    }
  }

  /**
   * Waits until every label is stored or refused, for as long as the instrument makes progress. Returns an empty list,
   * or the problem and the missing labels if the instrument is stuck.
   */
  async untilWhole(): Promise<readonly string[]> {
    let [most, progressAt] = [-1, performance.now()];
    for (;;) {
      const { whole, rows, refused, missing } = await this.compare({ verified: false });
      if (whole) return [];
      const done = rows + sumOf(refused);
      if (done > most) [most, progressAt] = [done, performance.now()];
      if (performance.now() - progressAt > stuckMs) {
        return [`no further label was stored for ${stuckMs / 1000} s: ${JSON.stringify(refused)}`, ...missing];
      }
      await wait(compareMs);
    }
  }
}

type Counts = ReadonlyMap<string, { readonly applied: number; readonly removed: number }>;

/** Returns the number of stored refusals by reason. Excludes the reason `duplicate`, because its count depends on how the
 * labels were read. */
async function refusedIn(store: StoreReader, span: Interval): Promise<Record<string, number>> {
  const refused: Record<string, number> = {};
  for (const { reason, count } of await store.refusals(span)) {
    if (reason !== 'duplicate') refused[reason] = (refused[reason] ?? 0) + count;
  }
  return refused;
}

/** Returns a problem for each source whose read position is ahead of its stored rows. */
function positionsAhead(positions: readonly Position[], counts: Counts, emitted: EmittedLabels): string[] {
  return positions.flatMap(({ source, value }) => {
    const position = readPosition(value);
    // Skip an entry without a position: it only records which refused rows were counted.
    if (position === null) return [];
    // Live labels can be stored before missing older labels, but a position advances to a number only when all labels
    // before this number are stored. For these labelers, the seq equals the label's number.
    const due = emitted.acceptedThrough(source, Math.max(position.seq ?? 0, position.cursor ?? 0));
    const { applied = 0, removed = 0 } = counts.get(source) ?? {};
    const ahead = due - applied - removed;
    return ahead > 0 ? [`the position of ${source} is ${ahead} rows ahead of the store`] : [];
  });
}

/**
 * Returns a problem for each labeler with more stored rows than emitted labels, and for each reason with more refusals
 * than expected.
 */
function excess(counts: Counts, refused: Readonly<Record<string, number>>, emitted: EmittedLabels): string[] {
  const { byAction } = emitted;
  const twice = [...counts].flatMap(([labeler, { applied, removed }]) => {
    const most = byAction.get(labeler) ?? { applied: 0, removed: 0 };
    const isMore = applied > most.applied || removed > most.removed;
    return isMore ? [`more rows of ${labeler} are stored than it emitted`] : [];
  });
  const counted = Object.entries(refused).flatMap(([reason, count]) => {
    const due = emitted.refused[reason] ?? 0;
    return count > due
      ? [`${count} refusals with the reason ${reason} were counted, but only ${due} are expected`]
      : [];
  });
  return [...twice, ...counted];
}

function missingRows(positions: readonly Position[], counts: Counts, emitted: EmittedLabels): string[] {
  return [...emitted.byAction].flatMap(([labeler, { applied, removed }]) => {
    const found = counts.get(labeler) ?? { applied: 0, removed: 0 };
    const count = applied + removed - found.applied - found.removed;
    const at = positions.find(({ source, value }) => source === labeler && readPosition(value) !== null)?.value;
    return count === 0 ? [] : [`${count} rows of ${labeler} are missing; its read position is ${at ?? 'unknown'}`];
  });
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
