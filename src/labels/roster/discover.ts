import type { HttpClient } from '../../network/http/http.ts';
import type { Log } from '../../ops/log.ts';
import { listLabelers } from './relay-list.ts';
import type { Roster } from './roster.ts';

/** Dependencies of `discover`. */
export interface DiscoverOptions {
  readonly relays: readonly string[];
  readonly http: HttpClient;
  readonly add: Roster['add'];
  readonly log: Log;
}

/** Requests the list of labelers from every relay, and adds each labeler. */
export async function discover({ relays, http, add, log }: DiscoverOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    relays.map(async (relay) => {
      const { dids, complete } = await listLabelers(http, relay, { timeoutMs: 30_000, signal });
      for (const did of dids) add(did, 'discovered', `relay ${new URL(relay).host}`);
      if (!complete && !signal.aborted) log.warn('a relay did not list all labelers', { relay: new URL(relay).host });
    }),
  );
}
