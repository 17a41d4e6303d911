import { expect, it } from 'vitest';
import { publishedFact, simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { hourMs } from './days/calendar.ts';
import { type FetchedFact, factFetcher } from './fetch-fact.ts';

/** Requests a facts API without gaps as a real archiver does, which rejects responses that have expired. */
function judgingFetcher(clock: () => number): (path: string) => Promise<FetchedFact> {
  return factFetcher({
    ...{ base: 'http://a.example', userAgent: 'Almanac/test', timeoutMs: 10_000, stop: new AbortController().signal },
    async fetch(url) {
      const fact = publishedFact(new URL(String(url)).pathname, { now: clock() });
      if (fact.kind === 'failure') throw new TypeError('fetch failed');
      const headers = { Date: new Date(clock()).toUTCString(), 'Cache-Control': 'public, max-age=60' };
      return new Response(Buffer.from(fact.served.body), { headers });
    },
    clock,
    onExpired: () => undefined,
  });
}

it('an archiver that judges the age of responses archives every hour after both clocks were ahead and are set back', async () => {
  const { run, tickAt, content } = simulateArchive({ fetcher: judgingFetcher });
  await run(13);
  await tickAt(simulatedStart + 15 * hourMs);
  let at = simulatedStart + 13 * hourMs + 5_000;
  while (at < simulatedStart + 17 * hourMs) at += await tickAt(at);
  const hours = (content.get('days/2026-11-20/instruments.jsonl') ?? Buffer.alloc(0))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { hour, status } = JSON.parse(line) as { readonly hour: string; readonly status: number | null };
      return [hour, status];
    });
  expect(hours).toEqual(
    Array.from({ length: 17 }, (_, hour) => [`2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`, 200]),
  );
});
