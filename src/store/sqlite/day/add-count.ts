/** Receives one count: labeler, time bucket, number of applications and number of removals. */
export type AddCount = (labeler: string, bucket: number, applied: number, removed: number) => void;
