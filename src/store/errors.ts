/**
 * Errors of the store and what each one means for the caller. `retry`: the same call may succeed later. `fatal`: the
 * process must stop and report the error, because it is no longer allowed to write, or because the state of the files
 * is unknown. Only `damaged` means that the content of the files is wrong.
 */
export const storeErrors = {
  wal_full: {
    retry: true,
    fatal: false,
    meaning: 'a stalled reader prevents the write-ahead log from shrinking; pause acceptance',
  },
  disk_full: { retry: true, fatal: false, meaning: 'no space is left; nothing was committed; pause acceptance' },
  clock_behind: {
    retry: true,
    fatal: false,
    meaning: 'the wall clock is behind the last stamp; pause acceptance',
  },
  busy: {
    retry: true,
    fatal: false,
    meaning: 'another process is briefly locking a file or a row, or a query took too long',
  },
  behind: {
    retry: true,
    fatal: false,
    meaning: 'this server has not yet received everything before the end of the interval; wait, or ask another server',
  },
  unreachable: { retry: true, fatal: false, meaning: 'the database server cannot be reached; pause acceptance' },
  misconfigured: {
    retry: false,
    fatal: true,
    meaning: 'the server is too old, or a file named in the settings cannot be read; correct the cause',
  },
  second_writer: { retry: false, fatal: false, meaning: 'another process has opened this store for writing' },
  fenced: {
    retry: false,
    fatal: true,
    meaning: 'another process has become the writer of this store; stop the process',
  },
  not_a_store: {
    retry: false,
    fatal: false,
    meaning: 'this directory or database contains no store, or no longer the store that was opened',
  },
  occupied: { retry: false, fatal: false, meaning: 'this directory or schema already contains a store' },
  unfinished_copy: {
    retry: false,
    fatal: false,
    meaning: 'this store is an incomplete copy; run almanac store copy again',
  },
  moved: {
    retry: false,
    fatal: false,
    meaning: 'this store was replaced by a copy; only readers may open it',
  },
  schema_newer: { retry: false, fatal: false, meaning: 'the store was written by a newer version' },
  pragma_refused: { retry: false, fatal: false, meaning: 'this file system or SQLite build lacks a required feature' },
  invalid_observation: {
    retry: false,
    fatal: false,
    meaning: 'the batch contains a label that admission should have refused',
  },
  batch_too_large: { retry: false, fatal: false, meaning: 'the batch exceeds the limits of the store' },
  invalid_query: { retry: false, fatal: false, meaning: 'the query is invalid or exceeds the limits of the store' },
  out_of_window: { retry: false, fatal: false, meaning: 'the interval begins before the retained data' },
  budget_exceeded: { retry: false, fatal: false, meaning: 'the interval contains more rows than the caller allowed' },
  wrong_origin: { retry: false, fatal: false, meaning: 'live and simulated observations cannot be in the same store' },
  closed: { retry: false, fatal: false, meaning: 'the store was closed' },
  damaged: { retry: false, fatal: true, meaning: 'the files are inconsistent; stop the process' },
  commits_lost: {
    retry: false,
    fatal: true,
    meaning: 'the database lost confirmed commits, for example in a failover; restart the process',
  },
  io_failed: { retry: false, fatal: true, meaning: 'a read or write of the file system failed; stop the process' },
  unexpected: { retry: false, fatal: true, meaning: 'an unexpected error occurred; stop the process' },
} as const;

/** Code of a store error. */
export type StoreErrorCode = keyof typeof storeErrors;

/** Error of the store. The caller acts on the code; the message is for the operator. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }

  /** True if the same call may succeed later. */
  get retry(): boolean {
    return storeErrors[this.code].retry;
  }

  /** True if the process must stop. */
  get fatal(): boolean {
    return storeErrors[this.code].fatal;
  }
}

/** Name of the note that marks a store as retired because a copy has replaced it. */
export const movedNote = 'store-moved';

/** Throws `moved` if the note is not null, that is, if a copy has replaced the store. */
export function assertNotMoved(note: string | null): void {
  if (note === null) return;
  throw new StoreError(
    'moved',
    'this store was copied with almanac store copy and can no longer be written to: use the copy, or run almanac store reopen',
  );
}

/** Creates the error for opening an incomplete copy. */
export function unfinishedCopy(place: string): StoreError {
  return new StoreError(
    'unfinished_copy',
    `${place} is an unfinished copy: run almanac store copy again with the same stores until it finishes`,
  );
}
