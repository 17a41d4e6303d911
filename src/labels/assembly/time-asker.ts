import type { Micros } from '../../contract/timestamp.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { labelerCollection } from '../roster/relay-list.ts';

/** Addresses of the hosts whose responses give the time. */
export interface TimeSources {
  readonly relays: readonly string[];
  /** URL of the did:plc directory. */
  readonly plc: string;
  /** URLs of replicas of the directory. */
  readonly plcReplicas?: readonly string[];
  /** DIDs that the directory contains. */
  readonly dids: readonly string[];
}

/**
 * Returns a function that requests the time from the relays and the directory, whose responses have a `Date` header.
 * The function starts at most one round of requests in `intervalMs` milliseconds. Calls `onTime` with the upstream's
 * time in milliseconds and the wall-clock time of the request.
 */
export function timeAsker(
  http: HttpClient,
  { relays, plc, plcReplicas = [], dids }: TimeSources,
  clock: () => Micros,
  intervalMs: number,
  signal: AbortSignal,
  onTime: (milliseconds: number, requestedAt: Micros) => void,
): () => void {
  const urls = relays.map(
    (relay) => new URL(`/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`, relay),
  );
  const known = dids.find((did) => did.startsWith('did:plc:'));
  const directories = known === undefined ? [] : [plc, ...plcReplicas];
  for (const directory of directories) urls.push(new URL(`${directory.replace(/\/+$/, '')}/${known}`));
  let lastRound = Number.NEGATIVE_INFINITY;
  return () => {
    if (signal.aborted || performance.now() - lastRound < intervalMs) return;
    lastRound = performance.now();
    for (const url of urls) {
      const requestedAt = clock();
      void http.getJson(url, { maxBytes: 65_536, timeoutMs: 10_000, signal }).then((answer) => {
        if (answer.kind === 'json' && answer.date !== null) onTime(answer.date, requestedAt);
      });
    }
  };
}
