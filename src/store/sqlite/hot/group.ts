import type { SubjectKey } from '../base/row.ts';

/**
 * One group of a subject's rows: numeric ids of labeler and value, index of the target kind in `targetKinds`, and the
 * number of applications and removals.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/**
 * Maximum number of a subject's stored groups that are read from a day. For a subject with more groups, rows are
 * counted within the budget instead.
 */
export const maxGroups = 5_000;

/** Groups of one subject, in order. Contains at most the first `maxGroups + 1` groups. */
export interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}
