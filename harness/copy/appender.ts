/**
 * Appends to a store as an instrument does: `appender.ts URL FIRST RATE`. Appends RATE labels per second, numbered
 * from FIRST, and runs upkeep every two seconds. Prints `open` once the store is open, and `appended N` once the
 * store is closed after SIGTERM.
 */
import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openStoreWriter } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';
import { traffic } from './traffic.ts';

const [url = '', first = '', rate = ''] = process.argv.slice(2);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

const now = () => micros(Date.now() * 1000);
const store = await openStoreWriter(url, { at: now() });
writeSync(1, 'open\n');
const begun = performance.now();
let appended = 0;
let upkeep = begun;
while (!stopping.signal.aborted) {
  const due = Math.floor(((performance.now() - begun) / 1000) * Number(rate)) - appended;
  if (due > 0) {
    const count = Math.min(due, 1_000);
    await store.append({
      at: now(),
      observations: traffic(Number(first) + appended, count),
      refusals: [],
      positions: [],
    });
    appended += count;
    await store.beat(now());
  }
  if (performance.now() - upkeep > 2_000) {
    await store.maintain(now());
    upkeep = performance.now();
  }
  await wait(50, undefined, { signal: stopping.signal }).catch(() => undefined);
}
await store.close();
writeSync(1, `appended ${appended}\n`);
