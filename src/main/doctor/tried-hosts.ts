/** Services of the network that an observatory reads. */
export type HostService = 'jetstream' | 'relay' | 'directory';

/** A host that was contacted. */
export interface TriedHost {
  readonly service: HostService;
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
