/** How one check came out: `warn` works now and wants a look, `fail` keeps something from working. */
export type Level = 'ok' | 'warn' | 'fail';

/** What one check found. */
export interface Finding {
  /** What was looked at, in one or two words. */
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

/** A check that wants a look. */
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
