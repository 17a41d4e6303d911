/**
 * Purges a labeler's rows from a store and kills its own process at a fault point: `purger.ts FOLDER FAULT:COUNT`.
 * Prints `done` when the purge is complete.
 */
import { writeSync } from 'node:fs';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { hostile, requestedAt } from './purge-store.ts';

const [folder = '', fault = ''] = process.argv.slice(2);
const [point, count] = fault.split(':');
let left = Number(count ?? 0);

const store = openSqliteWriter({
  folder,
  at: requestedAt,
  faults: (reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
await store.requestPurge({ source: hostile, at: requestedAt });
while (await store.purge(requestedAt));
writeSync(1, 'done\n');
await store.close();
