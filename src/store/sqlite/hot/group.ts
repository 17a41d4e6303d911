import type { SubjectKey } from '../base/row.ts';

/**
 * One group of a subject's rows: numbers of labeler and value, index of the target in `targetKinds`, and the two
 * counts.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/**
 * Maximum number of stored groups of one subject that are read from a day; for a subject with more, rows are counted
 * within the budget.
 */
export const maxGroups = 5_000;

/** Groups of one subject in order; if a subject has more than `maxGroups`, only the first `maxGroups` + 1. */
export interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}
