import type { SubjectKey } from '../base/row.ts';

/**
 * One group of a subject's rows: numbers of labeler and value, index of the target in `targetKinds`, and the two
 * counts.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/**
 * Maximum number of stored groups that are read of one subject's day; beyond it, rows are counted within the budget.
 */
export const maxGroups = 5_000;

/** One subject's groups in order; if there are more than `maxGroups`, only enough of them to show that. */
export interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}
