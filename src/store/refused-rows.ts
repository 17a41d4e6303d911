/** Maximum length of one bucket of refused rows, in characters. */
export const maxRefusedRowsLength = 4_096;
/** Number of buckets of a source's refused rows. */
export const refusedRowBuckets = 16;

/**
 * One bucket of a source's refused rows. The instrument remembers refused rows so that a row that arrives again is
 * counted only once. A source has up to `refusedRowBuckets` buckets, so that a commit rewrites only some of them.
 */
export interface RefusedRows {
  /** DID of the labeler that was read. */
  readonly source: string;
  /** Number of the bucket, from 0. */
  readonly bucket: number;
  /**
   * Fingerprints and counts in the instrument's encoding: at most `maxRefusedRowsLength` characters, opaque to the
   * store.
   */
  readonly rows: string;
}

/** A change to one bucket of refused rows; if `rows` is null, the bucket is removed. */
export interface RefusedRowsChange {
  readonly source: string;
  readonly bucket: number;
  readonly rows: string | null;
}
