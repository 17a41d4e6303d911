/** Function that receives one count: a labeler, a bucket of time, and the numbers of applied and removed labels. */
export type AddCount = (labeler: string, bucket: number, applied: number, removed: number) => void;
