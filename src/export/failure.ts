/** Why an export did not come about, and by it the exit code of the command. */
export type FailureKind =
  /** The service refuses what is asked for. */
  | 'refused'
  /** No usable answer for as long as was to be waited. */
  | 'unreachable'
  /** The export expired again and again before its last page. */
  | 'expired'
  /** The response differs from what the service sent: digest, count, order, shape or coverage of the interval. */
  | 'damaged'
  /** The file cannot be written. */
  | 'unwritable';

/** An export that is not complete. Nothing of it stands under the name of the file; the message says what to do. */
export class ExportFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ExportFailure';
    this.kind = kind;
  }
}
