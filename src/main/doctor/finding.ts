/** Result level of a check: `warn` works now but needs attention, `fail` prevents something from working. */
export type Level = 'ok' | 'warn' | 'fail';

/** Result of one check. */
export interface Finding {
  /** Subject of the check, in one or two words. */
  readonly check: string;
  readonly level: Level;
  /** One line: what was found. */
  readonly found: string;
  /** One line: what to do about it; null where nothing is to be done. */
  readonly todo: string | null;
}

/** A check that is well. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found, todo: null };
}

/** A check that needs attention. */
export function warn(check: string, found: string, todo: string): Finding {
  return { check, level: 'warn', found, todo };
}

/** A check that failed. */
export function fail(check: string, found: string, todo: string): Finding {
  return { check, level: 'fail', found, todo };
}

/** The worst level of all. */
export function worst(findings: readonly Finding[]): Level {
  return (['fail', 'warn'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'ok';
}

/** One plain line for a person. */
export function line({ check, level, found, todo }: Finding): string {
  return `${level.padEnd(5)} ${check.padEnd(16)} ${found}${todo === null ? '' : `; ${todo}`}`;
}
