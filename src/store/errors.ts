/**
 * Errors of the store, with their consequence for the caller. `retry`: the same call may succeed later. `fatal`: the
 * process must stop and report it, because it does not know the state of the files. Only `damaged` states that the files
 * themselves are wrong.
 */
export const storeErrors = {
  wal_full: { retry: true, fatal: false, meaning: 'a stopped reader holds the write-ahead log open; pause acceptance' },
  disk_full: { retry: true, fatal: false, meaning: 'no space left; nothing was committed; pause acceptance' },
  clock_behind: { retry: true, fatal: false, meaning: 'the wall clock is behind the last stamp; pause acceptance' },
  busy: { retry: true, fatal: false, meaning: 'another process holds a file for a moment' },
  second_writer: { retry: false, fatal: false, meaning: 'another process writes this store' },
  not_a_store: { retry: false, fatal: false, meaning: 'this place contains no store' },
  occupied: { retry: false, fatal: false, meaning: 'this place already contains a store' },
  schema_newer: { retry: false, fatal: false, meaning: 'the store was written by a newer version' },
  pragma_refused: { retry: false, fatal: false, meaning: 'this file system or build lacks a required property' },
  invalid_observation: { retry: false, fatal: false, meaning: 'a label that admission should have refused' },
  batch_too_large: { retry: false, fatal: false, meaning: 'the batch exceeds the limits of the port' },
  invalid_query: { retry: false, fatal: false, meaning: 'the query exceeds the limits of the port' },
  out_of_window: { retry: false, fatal: false, meaning: 'the interval begins before the retained floor' },
  budget_exceeded: { retry: false, fatal: false, meaning: 'the interval holds more rows than the caller allowed' },
  wrong_origin: { retry: false, fatal: false, meaning: 'live and simulated observations do not share a store' },
  closed: { retry: false, fatal: false, meaning: 'the store was closed' },
  damaged: { retry: false, fatal: true, meaning: 'the files are inconsistent; stop' },
  io_failed: { retry: false, fatal: true, meaning: 'the file system refused a read or write; stop' },
  unexpected: { retry: false, fatal: true, meaning: 'an error that this program does not expect; stop' },
} as const;

/** Code of a store error. */
export type StoreErrorCode = keyof typeof storeErrors;

/** Error of the store. The code decides the caller's action; the message is for the operator. */
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
