/** Receives one count: labeler, bucket of time, number of applications and number of removals. */
export type AddCount = (labeler: string, bucket: number, applied: number, removed: number) => void;
