/**
 * One group of a subject's rows: numbers of labeler and value, index of the target in `targetKinds`, and the two
 * counts.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/** Receives one count: a labeler, a bucket of time, and the numbers of applied and removed labels. */
export type Tally = (labeler: string, bucket: number, applied: number, removed: number) => void;
