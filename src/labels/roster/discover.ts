import type { HttpClient } from '../../network/http/http.ts';
import type { Log } from '../../ops/log.ts';
import { listLabelers } from './relay-list.ts';
import type { Roster } from './roster.ts';

/** Dependencies of `discover`. */
export interface DiscoverOptions {
  /** URL of the relay. */
  readonly relay: string;
  readonly http: HttpClient;
  readonly add: Roster['add'];
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** Requests the list of labelers from a relay, and adds each labeler. */
export async function discover({ relay, http, add, wait, log }: DiscoverOptions, signal: AbortSignal): Promise<void> {
  const { host } = new URL(relay);
  const { dids, complete } = await listLabelers(http, relay, { timeoutMs: 30_000, wait, signal });
  for (const did of dids) add(did, 'discovered', `relay ${host}`);
  if (!complete && !signal.aborted) log.warn('a relay did not list all labelers', { relay: host });
}
