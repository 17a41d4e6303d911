/** Kinds of export failures, which determine the exit code of the command. */
export type FailureKind =
  /** The service refuses the request. */
  | 'refused'
  /** No usable response within the time limit. */
  | 'unreachable'
  /** The export expired repeatedly before its last page. */
  | 'expired'
  /** The response differs from what the service sent: digest, count, order, shape or coverage of the interval. */
  | 'damaged'
  /** The file cannot be written. */
  | 'unwritable';

/** A failed export. No file exists under the requested name; the message states the remedy. */
export class ExportFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ExportFailure';
    this.kind = kind;
  }
}
