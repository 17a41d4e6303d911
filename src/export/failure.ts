/** Kinds of export failures, which determine the exit code of the command. */
export type FailureKind =
  /** The service refuses the request, or the address is not an account-view service. */
  | 'refused'
  /** The service sends no usable response within the time limit. */
  | 'unreachable'
  /** The export expired before its last page, even after several restarts. */
  | 'expired'
  /** The received data is wrong: its digest, count, order, structure or interval. */
  | 'damaged'
  /** The file cannot be written. */
  | 'unwritable';

/**
 * Error of a failed export. An incomplete file never has the requested name. The message explains the failure to the
 * user.
 */
export class ExportFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ExportFailure';
    this.kind = kind;
  }
}
