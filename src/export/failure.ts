/** Kinds of export failures, which determine the exit code of the command. */
export type FailureKind =
  /** The service refuses the request. */
  | 'refused'
  /** The service sends no usable response within the time limit. */
  | 'unreachable'
  /** The export expired repeatedly before its last page. */
  | 'expired'
  /** The received data is wrong: digest, count, order, shape or interval. */
  | 'damaged'
  /** The file cannot be written. */
  | 'unwritable';

/** Thrown if an export fails. No file is written under the requested name; the message states the remedy. */
export class ExportFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ExportFailure';
    this.kind = kind;
  }
}
