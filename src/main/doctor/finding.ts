/** Result of one check. */
export interface Finding {
  /** Subject of the check, in one or two words. */
  readonly check: string;
  /** Severity. `warn`: the subject works now but needs attention. `fail`: the subject does not work. */
  readonly level: 'ok' | 'warn' | 'fail';
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

/** A host that was contacted. */
export interface TriedHost {
  /** Service of the network that an observatory reads. */
  readonly service: 'jetstream' | 'relay' | 'directory';
  /** Host name, with the port if it is not the default. */
  readonly host: string;
  /** True if the host sent any response. */
  readonly answers: boolean;
}

/** Describes in one line which hosts were tried, and which of them do not respond. */
export function describeTried(tried: readonly TriedHost[]): string {
  const missing = tried.filter(({ answers }) => !answers);
  const names = (hosts: readonly TriedHost[]): string =>
    hosts.map(({ service, host }) => `${host} (${service})`).join(', ');
  if (missing.length === 0) return `all ${tried.length} hosts respond: ${names(tried)}`;
  if (missing.length < tried.length)
    return `${missing.length} of ${tried.length} hosts do not respond: ${names(missing)}`;
  return `tried ${names(tried)}: none of them responds`;
}

/** Returns the host name in a URL, with the port if it is not the default. Returns any other text unchanged. */
export function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}
