/**
 * Reads facts with the client, in any runtime, and returns the outcome of each step. The server responds differently below
 * each path of `base`.
 */
export async function outcomes({ createFactsClient }, base) {
  let ahead = 0;
  const options = { now: () => Date.now() + ahead, timeoutMs: 2_000 };
  const outcome = (client, asked) =>
    client.labelsOverview(asked).then(
      ({ via }) => via,
      (error) =>
        [error.kind ?? error.name, error.code ?? error.reason].filter((word) => typeof word === 'string').join(' '),
    );
  const fresh = createFactsClient(`${base}/fresh`, options);
  const first = await Promise.all([outcome(fresh), outcome(fresh)]);
  const kept = await outcome(fresh);
  // Longer than `max-age`.
  ahead = 61_000;
  const again = await outcome(fresh);
  const at = (path, asked) => outcome(createFactsClient(`${base}${path}`, options), asked);
  return {
    first,
    kept,
    again,
    held: await at('/held'),
    page: await at('/page'),
    cut: await at('/cut'),
    cutGzip: await at('/cut-gzip'),
    silent: await at('/silent'),
    aborted: await at('/silent', { signal: AbortSignal.timeout(100) }),
    unreachable: await outcome(createFactsClient('http://127.0.0.1:1', options)),
  };
}
