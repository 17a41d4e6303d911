import { expect, it } from 'vitest';
import {
  publishedFact,
  type SimulatedArchive,
  simulateArchive,
  simulatedStart,
} from '../../harness/archive/simulated-archive.ts';
import { hourMs } from './days/calendar.ts';
import { factFetcher } from './fetch-fact.ts';

const minuteMs = 60_000;

/** An archive behind a cache, with clocks and a service that the test changes. */
interface Observatory extends SimulatedArchive {
  /** Time by which the archiver's clock is ahead of the service's, in milliseconds. */
  aheadMs: number;
  /** Time for which the cache repeats a response, in milliseconds. */
  cachedMs: number;
  /** True if the service does not respond. The cache then repeats its last responses for as long as it lasts. */
  isDown: boolean;
  /** Calls the archiver each minute, from one hour until before another, by the service's clock. */
  minutes(fromHour: number, untilHour: number): Promise<void>;
  /** Returns the status of each archived line of a fact on the first day, by hour. */
  hours(): [hour: string, status: number | null][];
}

/** Simulates an archiver that judges the age of responses, as a real one does. */
function observatory(): Observatory {
  const stored = new Map<string, { readonly at: number; readonly body: Buffer }>();
  const archive = simulateArchive({
    fetcher: (clock) =>
      factFetcher({
        ...{ base: 'http://a.example', userAgent: 'Almanac/test', timeoutMs: 10_000 },
        ...{ stop: new AbortController().signal, clock, onExpired: () => undefined },
        async fetch(url) {
          const { pathname } = new URL(String(url));
          const now = clock() - observed.aheadMs;
          const kept = stored.get(pathname);
          const isKept = kept !== undefined && (observed.isDown || now - kept.at < observed.cachedMs);
          const { at, body } = isKept ? kept : { at: now, body: bodyOf(pathname, now) };
          stored.set(pathname, { at, body });
          const headers = { Date: new Date(at).toUTCString(), 'Cache-Control': 'public, max-age=60' };
          return new Response(new Uint8Array(body), { headers });
        },
      }),
  });
  const observed: Observatory = {
    ...archive,
    ...{ aheadMs: 0, cachedMs: 0, isDown: false },
    async minutes(fromHour, untilHour) {
      const until = simulatedStart + untilHour * hourMs;
      for (let at = simulatedStart + fromHour * hourMs + 5_000; at < until; at += minuteMs)
        await archive.tickAt(at + observed.aheadMs);
    },
    hours: () =>
      (archive.content.get('days/2026-11-20/labels-overview.jsonl') ?? Buffer.alloc(0))
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const { hour, status } = JSON.parse(line) as { readonly hour: string; readonly status: number | null };
          return [hour, status];
        }),
  };
  return observed;
}

function bodyOf(path: string, now: number): Buffer {
  const fact = publishedFact(path, { now });
  return fact.kind === 'response' ? Buffer.from(fact.served.body) : Buffer.alloc(0);
}

function texts({ content }: Observatory): Record<string, string> {
  return Object.fromEntries([...content].map(([path, bytes]) => [path, bytes.toString('latin1')]));
}

/** Returns hours of the first day with the status of their lines. */
function expectedHours(statuses: readonly (number | null)[]): [hour: string, status: number | null][] {
  return statuses.map((status, hour) => [`2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`, status]);
}

const differs = 'the local clock differs from the clock of the facts API, so nothing is archived: check both clocks';

it.each([
  ['keeps running', false, 0],
  ['starts with that clock', true, 0],
  ['requests through a cache', false, 60_000],
  ['requests through a cache that keeps responses for five minutes', true, 300_000],
])('an archiver whose clock alone is 48 hours ahead archives nothing if it %s', async (_, starts, cachedMs) => {
  const observed = observatory();
  observed.cachedMs = cachedMs;
  await observed.minutes(0, 10);
  const before = texts(observed);
  observed.aheadMs = 48 * hourMs;
  if (starts) observed.restart();
  await observed.minutes(10, 12);
  expect(texts(observed)).toEqual(before);
  expect(observed.messages.filter(({ message }) => message === differs)).toHaveLength(1);
  observed.aheadMs = 0;
  await observed.minutes(12, 14);
  expect(observed.hours().filter(([hour]) => hour >= '2026-11-20T12')).toEqual(
    expectedHours(Array.from({ length: 14 }, () => 200)).slice(12),
  );
});

it('an archiver records hours in which a cache only repeats its responses as unreachable', async () => {
  const observed = observatory();
  await observed.minutes(0, 2);
  observed.isDown = true;
  await observed.minutes(2, 5);
  observed.isDown = false;
  await observed.minutes(5, 6);
  expect(observed.hours()).toEqual(expectedHours([200, 200, null, null, null, 200]));
  expect(observed.messages.map(({ message }) => message)).not.toContain(differs);
});

it('an archiver whose clock jumps 48 hours ahead while a cache has long repeated its responses archives no later hour', async () => {
  const observed = observatory();
  await observed.minutes(0, 2);
  observed.isDown = true;
  await observed.minutes(2, 3.5);
  observed.aheadMs = 48 * hourMs;
  await observed.minutes(3.5, 3.6);
  observed.isDown = false;
  await observed.minutes(3.6, 4);
  expect(observed.messages.filter(({ message }) => message === differs)).toHaveLength(1);
  observed.aheadMs = 0;
  await observed.minutes(4, 6);
  expect(observed.hours()).toEqual(expectedHours([200, 200, null, null, 200, 200]));
  const days = [...observed.content.keys()]
    .filter((path) => path.startsWith('days/'))
    .map((path) => path.split('/')[1]);
  expect([...new Set(days)]).toEqual(['2026-11-20']);
});
