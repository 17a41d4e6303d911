/** Severity of a finding. `warn`: the subject works now but needs attention. `fail`: the subject does not work. */
export type Level = 'ok' | 'warn' | 'fail';

/** Result of one check. */
export interface Finding {
  /** Subject of the check, in one or two words. */
  readonly check: string;
  readonly level: Level;
  /** Result of the check, in one line. */
  readonly found: string;
  /** Remedy, in one line, or null if no action is required. */
  readonly todo: string | null;
}

/** Creates the finding of a passed check. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found, todo: null };
}

/** Creates the finding of a check that needs attention. */
export function warn(check: string, found: string, todo: string): Finding {
  return { check, level: 'warn', found, todo };
}

/** Creates the finding of a failed check. */
export function fail(check: string, found: string, todo: string): Finding {
  return { check, level: 'fail', found, todo };
}

/** Returns the worst level of all findings. */
export function worst(findings: readonly Finding[]): Level {
  return (['fail', 'warn'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'ok';
}

/** Formats a finding as one plain line. */
export function line({ check, level, found, todo }: Finding): string {
  return `${level.padEnd(5)} ${check.padEnd(16)} ${found}${todo === null ? '' : `; ${todo}`}`;
}
