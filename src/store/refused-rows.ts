/** Maximum characters of one bucket of refused rows. */
export const maxRefusedRowsLength = 4_096;
/** Number of buckets of a source's refused rows. */
export const refusedRowBuckets = 16;

/**
 * One bucket of the refused rows of a source, which the instrument remembers so that a row that arrives again is
 * counted once. A source has up to `refusedRowBuckets` buckets, so that a commit rewrites only some of its rows.
 */
export interface RefusedRows {
  /** DID of the labeler that was read. */
  readonly source: string;
  /** Number of the bucket, from 0. */
  readonly bucket: number;
  /**
   * Fingerprints and counts, in the encoding of the instrument: at most `maxRefusedRowsLength` characters, opaque to
   * the store.
   */
  readonly rows: string;
}

/** A change of one bucket of refused rows; null `rows` removes it. */
export interface RefusedRowsChange {
  readonly source: string;
  readonly bucket: number;
  readonly rows: string | null;
}
