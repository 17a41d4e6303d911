import type { Micros } from '../../contract/timestamp.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { labelerCollection } from '../roster/relay-list.ts';

/** Whom to ask for the time. */
export interface TimeSources {
  readonly relays: readonly string[];
  /** The did:plc directory and its replicas, and DIDs that they hold. */
  readonly plc: string;
  readonly plcReplicas?: readonly string[];
  readonly dids: readonly string[];
}

/** At most this often, in milliseconds. */
const askTimeMs = 5_000;

/**
 * Asks the relays and the directory what time it is, at most every few seconds: their answers carry it. `told` hears it
 * in milliseconds, with our clock of when they were asked.
 */
export function timeAsker(
  http: HttpClient,
  { relays, plc, plcReplicas = [], dids }: TimeSources,
  clock: () => Micros,
  signal: AbortSignal,
  told: (milliseconds: number, askedAt: Micros) => void,
): () => void {
  const urls = relays.map(
    (relay) => new URL(`/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`, relay),
  );
  const known = dids.find((did) => did.startsWith('did:plc:'));
  const directories = known === undefined ? [] : [plc, ...plcReplicas];
  for (const directory of directories) urls.push(new URL(`${directory.replace(/\/+$/, '')}/${known}`));
  let asked = Number.NEGATIVE_INFINITY;
  return () => {
    if (signal.aborted || performance.now() - asked < askTimeMs) return;
    asked = performance.now();
    for (const url of urls) {
      const askedAt = clock();
      void http.getJson(url, { maxBytes: 65_536, timeoutMs: 10_000, signal }).then((answer) => {
        if (answer.kind === 'json' && answer.date !== null) told(answer.date, askedAt);
      });
    }
  };
}
