import { openStoreWriter } from '../../src/store/open.ts';
import { maxBatchRows, type NewObservation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

/** Rows that resemble ordinary traffic, for copies of large stores. */

const labelers = Array.from({ length: 40 }, (_, i) => `did:plc:${encoded(i, 24)}`);
const values = ['spam', 'porn', 'sexual', 'nudity', '!hide', 'rude', 'intolerant', 'misleading'];
/** Number of accounts over which the rows are spread. */
const accounts = 300_000;

/** Returns observations of labels numbered from `first`. Each number yields a different label. */
export function traffic(first: number, count: number): NewObservation[] {
  return Array.from({ length: count }, (_, i) => {
    const n = first + i;
    const account = `did:plc:${encoded(Math.imul(n, 2_654_435_761) >>> 0 || 1, 18).slice(0, 6)}${encoded(n % accounts, 18)}`;
    return {
      signature: n % 5 === 0 ? 'unsigned' : 'verified',
      live: n % 2 === 0,
      label: {
        ver: 1,
        src: labelers[(n * 7) % labelers.length] ?? '',
        uri: n % 3 === 0 ? account : `at://${account}/app.bsky.feed.post/${encoded(n, 13)}`,
        val: values[(n * 3) % values.length] ?? '',
        ...(n % 11 === 0 && { neg: true }),
        cts: new Date(1_760_000_000_000 + n).toISOString(),
        sig: Buffer.alloc(64, n),
      },
    };
  });
}

function encoded(n: number, length: number): string {
  return n
    .toString(32)
    .replaceAll('0', 'w')
    .replaceAll('1', 'x')
    .replaceAll('8', 'y')
    .replaceAll('9', 'z')
    .padStart(length, 'a');
}

/** Fills a store with rows spread over the days before `end` (in microseconds). Returns the next label number. */
export async function fillStore(url: string, rows: number, days: number, end: number): Promise<number> {
  const start = end - days * day;
  const store = await openStoreWriter(url, { at: micros(start), durable: false });
  for (let n = 0; n < rows; n += maxBatchRows) {
    const count = Math.min(maxBatchRows, rows - n);
    await store.append({
      at: micros(start + Math.floor((n / rows) * days) * day + (n % Math.ceil(rows / days)) * 10),
      observations: traffic(n, count),
      refusals: [{ source: labelers[0] ?? '', reason: 'late', count: 1 }],
      positions: [{ source: labelers[1] ?? '', endpoint: 'wss://e.example', value: String(n + count) }],
    });
  }
  await store.close();
  return rows;
}
