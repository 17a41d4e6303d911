import { setTimeout as delay } from 'node:timers/promises';
import { rosterRow } from '../harness/store/roster-row.ts';
import type { ExportCreated, ExportPage } from '../src/contract/account.ts';
import type { NewObservation, StoreWriter } from '../src/store/port.ts';
import { day, dayOf, hour, micros } from '../src/store/time.ts';
import { accountDid, labelers, labelOf, planDay } from './store-traffic.ts';

/** Sends requests and stores rows for the benchmark of the account view. */

/** DID of the hot account. No generated account or labeler has this DID. */
export const denseDid = accountDid(9_999_999);

/** Formats the median, the 99th percentile and the maximum of durations, in milliseconds. */
export function times(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}

/**
 * Stores rows of the hot account in batches of the maximum size. The acceptance times within a batch are consecutive
 * microseconds.
 */
export async function appendDense(writer: StoreWriter, rows: number, now: () => number): Promise<void> {
  for (let first = 0; first < rows; first += 2_000) {
    const observations = Array.from(
      { length: Math.min(2_000, rows - first) },
      (_, i): NewObservation => ({
        signature: 'verified',
        label: {
          ver: 1,
          src: accountDid(8_001_000),
          uri: `at://${denseDid}/app.bsky.feed.post/${first + i}`,
          val: 'spam',
          cts: new Date(now() / 1000).toISOString(),
          sig: new Uint8Array(64),
        },
      }),
    );
    await writer.append({ at: micros(now()), observations, refusals: [], positions: [] });
  }
}

/** Enrols labelers, and records one-hour gaps of each labeler, spread over the 30-day window. */
export async function enrolWithGaps(
  writer: StoreWriter,
  { count, gaps }: { readonly count: number; readonly gaps: number },
  now: () => number,
): Promise<void> {
  const enrolled = Array.from({ length: count }, (_, i) => labelers[i] ?? accountDid(8_500_000 + i));
  const at = now();
  const changes = { origin: 'discovered', stateSince: micros(at) } as const;
  await writer.putRoster(enrolled.map((did) => rosterRow(did, changes)));
  for (const [index, source] of enrolled.entries()) {
    for (let n = 0; n < gaps; n++) {
      const start = at - 30 * day + Math.round(((n + index / enrolled.length) * 29 * day) / gaps);
      await writer.recordGap({ source, start: micros(start), end: micros(start + hour), reason: 'source_unavailable' });
    }
  }
}

/** Appends 500 labels per second until `signal` aborts. Resolves with the duration of each commit, in milliseconds. */
export async function appendSteadily(writer: StoreWriter, now: () => number, signal: AbortSignal): Promise<number[]> {
  const plan = planDay(dayOf(now()) + 1, 100_000);
  const took: number[] = [];
  for (let row = 0; !signal.aborted; row += 50) {
    const began = performance.now();
    const observations = Array.from({ length: 50 }, (_, i) => labelOf(plan, (row + i) % 100_000));
    await writer.append({ at: micros(now()), observations, refusals: [], positions: [] });
    const lasted = performance.now() - began;
    took.push(lasted);
    await delay(Math.max(0, 100 - lasted));
  }
  return took;
}

/**
 * Sends requests one after another. Resolves with the duration of each request, in milliseconds. Rejects if a response
 * has a status other than 200.
 */
export async function askAll(count: number, url: (n: number) => string): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    const answer = await fetch(url(n + 1));
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${url(n + 1)} responded with ${answer.status}`);
    took.push(performance.now() - began);
  }
  return took;
}

/**
 * Creates an export of an account's last 7 days and reads all its pages. Resolves with the number of rows, the total
 * duration of the pages in seconds, and the duration of each page in milliseconds.
 */
export async function followExport(url: string, did: string) {
  const created = (await (await fetch(`${url}/exports?did=${did}&days=7`)).json()) as ExportCreated;
  const began = performance.now();
  const pageMs: number[] = [];
  let rows = 0;
  for (let cursor: string | null = created.cursor; cursor !== null; ) {
    const asked = performance.now();
    const answer: Response = await fetch(`${url}/exports?cursor=${cursor}`);
    const page = (await answer.json()) as ExportPage;
    pageMs.push(performance.now() - asked);
    rows += page.rows.length;
    cursor = page.next_cursor;
  }
  return { rows, seconds: (performance.now() - began) / 1000, pageMs };
}

/**
 * Runs concurrent clients, each of which creates exports of ordinary accounts one after another. A refused client waits
 * for the time that the response states. Resolves with the durations of the admitted requests in milliseconds, the
 * number of refusals, and the status codes of all other responses.
 */
export async function crowd(url: string, clients: number, seconds: number) {
  const admitted: number[] = [];
  const others: string[] = [];
  let refused = 0;
  const until = performance.now() + seconds * 1000;
  async function client(number: number): Promise<void> {
    const headers = { 'X-Forwarded-For': `10.0.${number >> 8}.${number & 255}` };
    for (let n = 1; performance.now() < until; n++) {
      const asked = performance.now();
      const answer = await fetch(`${url}/exports?did=${accountDid(((number * 37 + n) % 4_000) * 1_003)}`, { headers });
      await answer.arrayBuffer();
      const retry = Number(answer.headers.get('retry-after'));
      if (answer.status === 200) admitted.push(performance.now() - asked);
      else if (answer.status === 503 && retry > 0) {
        refused += 1;
        await delay(retry * 1000);
      } else others.push(`${answer.status}`);
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return { admitted, refused, others };
}
