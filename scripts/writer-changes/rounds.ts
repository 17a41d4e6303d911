import type { WriterChange } from '../../harness/kills/writer-changes.ts';

/** Kinds of stores whose writers are replaced. */
export type StoreKind = 'sqlite' | 'postgres';

/** Result of a round, as a line of the state file. */
export interface RoundResult {
  readonly store: StoreKind;
  readonly how: WriterChange;
  /** Duration of each change in milliseconds. */
  readonly changeMs: readonly number[];
  /** Average load of the machine at the end of the round. */
  readonly load: number;
  readonly problems: readonly string[];
  readonly [figure: string]: unknown;
}

/** A round of changes of one kind, with its own store. */
export interface Round {
  readonly how: WriterChange;
  readonly changes: number;
  readonly seed: number;
}

/** Maximum number of changes in one round. */
const roundChanges = 10;
/** Duration that no change may exceed on a machine without other work, in milliseconds. */
const maxChangeMs = 5_000;

/** Returns the results in the text of a state file. Omits results for other kinds of stores. */
export function resultsIn(text: string, store: StoreKind): readonly RoundResult[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line): RoundResult => JSON.parse(line)).filter((result) => result.store === store);
}

/** Returns the number of changes of each kind. Fewer suspensions are planned, because a suspension takes longest. */
function planOf(times: number): readonly (readonly [WriterChange, number])[] {
  return [
    ['hand_over', times],
    ['kill', times],
    ['suspend', Math.ceil(times / 5)],
  ];
}

/**
 * Returns the next round, or null if every change was made. The round has the kind of change with the smallest
 * completed share, so that an interrupted run has results for each kind.
 */
export function nextRound(results: readonly RoundResult[], times: number): Round | null {
  let next: Round | null = null;
  let minShare = 1;
  for (const [index, [how, planned]] of planOf(times).entries()) {
    const made = changesOf(results, how).length;
    if (made / planned >= minShare) continue;
    minShare = made / planned;
    next = { how, changes: Math.min(roundChanges, planned - made), seed: 1_000 * (index + 1) + made };
  }
  return next;
}

/**
 * Returns one line for each kind of change, with the number and the durations of its changes and the number of failed
 * rounds.
 */
export function summary(results: readonly RoundResult[], times: number): readonly string[] {
  return planOf(times).map(([how, planned]) => {
    const all = changesOf(results, how).toSorted((a, b) => a - b);
    const failed = results.filter((result) => result.how === how && result.problems.length > 0).length;
    const loads = results.filter((result) => result.how === how).map(({ load }) => load);
    if (all.length === 0) return `${how}: 0 of ${planned} changes`;
    const median = all[Math.floor(all.length / 2)] ?? 0;
    const slow = all.filter((ms) => ms > maxChangeMs).length;
    return `${how}: ${all.length} of ${planned} changes, half within ${median} ms, at most ${all.at(-1)} ms, ${slow} longer than ${maxChangeMs / 1000} s, at a load of at most ${Math.max(...loads).toFixed(1)}, ${failed === 0 ? 'correct' : `${failed} rounds WRONG`}`;
  });
}

function changesOf(results: readonly RoundResult[], how: WriterChange): readonly number[] {
  return results.filter((result) => result.how === how).flatMap(({ changeMs }) => changeMs);
}
