/**
 * Kinds of findings of a verification, with their exit codes. A verification exits with the highest code: higher codes
 * cast doubt on the publisher, lower codes on single files.
 */
export const verifyExitCodes = {
  intact: 0,
  unreadable: 1,
  missing: 2,
  altered: 3,
  malformed: 4,
  gaps: 5,
  order: 6,
  log: 7,
  signature: 8,
  rollback: 9,
  fork: 10,
  key: 11,
} as const;

/** Kind of a finding: the name of its exit code. */
export type FindingKind = Exclude<keyof typeof verifyExitCodes, 'intact'>;

/** Meaning of each kind, for the help text and the documentation. */
export const findingMeanings: Readonly<Record<FindingKind, string>> = {
  unreadable: 'a file cannot be read; other findings take precedence',
  missing: 'a file that the archive lists, or that its log requires, does not exist',
  altered:
    'a file does not match its digest in the record of the day, the record does not match its entry in the log, or a withdrawn file still exists',
  malformed: 'a file does not have the format that its name implies',
  gaps: 'a gap manifest or a table does not match the archived files',
  order: 'the log omits a day, or contains a day twice, out of order, or closed less than 48 hours after its end',
  log: 'the entries and tiles of the log do not match the root hash in its checkpoint',
  signature: 'the checkpoint is damaged, or its signature is invalid',
  rollback: 'the log contains fewer days than the kept checkpoint',
  fork: 'the log does not continue the kept checkpoint: days were changed after they had been published',
  key: 'the log is signed with a key other than the given or kept one',
};

/** A mismatch between the archive and its log, its index or its records, or a file that cannot be read. */
export interface Finding {
  readonly kind: FindingKind;
  /** Path of the file, relative to the archive. */
  readonly path: string;
  readonly message: string;
}

/** Returns the highest exit code of the findings; 0 if there are none. */
export function exitCodeOf(findings: readonly Finding[]): number {
  // Do not pass all codes to one call of `Math.max`: the number of arguments of a call is limited.
  return findings.reduce<number>((code, { kind }) => Math.max(code, verifyExitCodes[kind]), verifyExitCodes.intact);
}
