import type { HttpClient } from '../network/http.ts';

const askTimeMs = 5_000;

/** Asks a relay what time it is, at most every few seconds: its answers carry it. */
export function timeAsker(
  http: HttpClient,
  relays: readonly string[],
  signal: AbortSignal,
  heard: (milliseconds: number) => void,
): () => void {
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - askedAt < askTimeMs) return;
    askedAt = performance.now();
    for (const relay of relays) {
      const url = new URL(
        '/xrpc/com.atproto.sync.listReposByCollection?collection=app.bsky.labeler.service&limit=1',
        relay,
      );
      void http.getJson(url, { maxBytes: 65_536, timeoutMs: 10_000, signal }).then((answer) => {
        if (answer.kind === 'json' && answer.date !== null) heard(answer.date);
      });
    }
  };
}
