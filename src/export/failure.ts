/** Kinds of export failures, which determine the exit code of the command. */
export type FailureKind =
  /** The service refuses the request. */
  | 'refused'
  /** The service sends no usable response within the time limit. */
  | 'unreachable'
  /** The export expired before its last page, even after several restarts. */
  | 'expired'
  /** The received data is wrong: its digest, count, order, structure or interval. */
  | 'damaged'
  /** The file cannot be written. */
  | 'unwritable';

/** Error of a failed export. No file is left under the requested name. The message tells the user what to do. */
export class ExportFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ExportFailure';
    this.kind = kind;
  }
}
