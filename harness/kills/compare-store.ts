import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { fieldsOf, verdict } from '../../sim/labelers/truth.ts';
import { admit } from '../../src/labels/ingest/admission.ts';
import { readPosition } from '../../src/labels/state/reading-events.ts';
import { identityOf } from '../../src/store/label.ts';
import { openStoreReader, openStoreStandby } from '../../src/store/open.ts';
import type { Position, StoreReader } from '../../src/store/port.ts';
import { type Interval, micros } from '../../src/store/time.ts';

/** Interval between two comparisons while labels are still being read, in milliseconds. */
const compareMs = 200;
/** Maximum time without progress, in milliseconds. An instrument that exceeds it counts as stuck. */
const stuckMs = 90_000;

/** Result of comparing a store with the labels emitted so far. */
interface Comparison {
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
      const rows = sumOf([...counts.values()].map(({ applied, removed }) => applied + removed));
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
      const done = rows + sumOf(Object.values(refused));
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

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Compares each row of a store without a writer with the labels that a network has emitted. Returns the problems.
 * Counts alone would not reveal a lost row if another row is stored twice.
 */
export async function storedOnce(sim: Sim, url: string): Promise<string[]> {
  const stored = new Map<string, number>();
  const store = await openStoreStandby(url, { clock: () => micros(Date.now() * 1000) });
  const { startedAt } = await store.epoch();
  try {
    await store.follow((identity) => stored.set(identity, (stored.get(identity) ?? 0) + 1));
  } finally {
    await store.close();
  }
  const twice = [...stored.values()].filter((count) => count > 1).length;
  let lost = 0;
  for (const { did, log, edge } of sim.labelers.list) {
    for (let n = 1; n <= edge; n += 1) {
      const { label, emittedUs } = log.label(n);
      const admitted = admit(label, { source: did, since: startedAt, now: micros(Math.floor(emittedUs)) });
      if (admitted.kind === 'accepted' && !stored.delete(identityOf(admitted.label).toString('latin1'))) lost += 1;
    }
  }
  return [
    ...(lost > 0 ? [`${lost} labels are not stored`] : []),
    ...(twice > 0 ? [`${twice} labels are stored more than once`] : []),
    ...(stored.size > 0 ? [`${stored.size} rows do not match any emitted label`] : []),
  ];
}

/** Counts of one labeler's labels so far. */
interface Counted {
  /** Number of accepted labels up to each label, indexed by the label's number. */
  readonly acceptedThrough: number[];
  applied: number;
  removed: number;
}

/**
 * Counts the labels that a network has emitted and an instrument must store or refuse. The counts are incremental,
 * because a full count would keep the network, which runs in the same process, from serving labels. Suitable only for
 * networks without duplicates.
 */
class EmittedLabels {
  readonly #sim: Sim;
  readonly #epochUs: number;
  readonly #labelers = new Map<string, Counted>();
  readonly #refused: Record<string, number> = {};

  constructor(sim: Sim, epochUs: number) {
    this.#sim = sim;
    this.#epochUs = epochUs;
  }

  /** Counts the labels that were emitted since the last call. */
  update(): void {
    for (const labeler of this.#sim.labelers.list) this.#count(labeler);
  }

  /** Number of labels that an instrument can accept. */
  get accepted(): number {
    return sumOf([...this.#labelers.values()].map(({ applied, removed }) => applied + removed));
  }

  /** Number of acceptable labels by labeler and action. Omits labelers without acceptable labels. */
  get byAction(): ReadonlyMap<string, { readonly applied: number; readonly removed: number }> {
    const all = [...this.#labelers].map(([did, { applied, removed }]) => [did, { applied, removed }] as const);
    return new Map(all.filter(([, { applied, removed }]) => applied + removed > 0));
  }

  /** Number of labels that an instrument must refuse, by the store's refusal reasons. */
  get refused(): Readonly<Record<string, number>> {
    return this.#refused;
  }

  /** Returns the number of acceptable labels of a labeler up to the given label number. */
  acceptedThrough(did: string, n: number): number {
    const known = this.#labelers.get(did)?.acceptedThrough ?? [];
    return known[Math.min(n, known.length - 1)] ?? 0;
  }

  #count({ did, log, edge }: Labeler): void {
    const counted = this.#labelers.get(did) ?? { acceptedThrough: [0], applied: 0, removed: 0 };
    this.#labelers.set(did, counted);
    const { acceptedThrough } = counted;
    for (let n = acceptedThrough.length; n <= edge; n += 1) {
      const emitted = log.label(n);
      const reason = verdict(emitted, this.#epochUs, emitted.emittedUs);
      if (reason === null) counted[fieldsOf(emitted.label).neg === true ? 'removed' : 'applied'] += 1;
      else {
        const name = reason === 'foreign' ? 'foreign_src' : reason;
        this.#refused[name] = (this.#refused[name] ?? 0) + 1;
      }
      acceptedThrough.push(counted.applied + counted.removed);
    }
  }
}
