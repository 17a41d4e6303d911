/**
 * Opens a store, removes its rows about spaces, and kills its own process at a fault point: `space-remover.ts FOLDER
 * [FAULT:COUNT]`.
 */
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { removedAt } from './space-rows.ts';

const [folder = '', fault = ''] = process.argv.slice(2);
const [point, count] = fault.split(':');
let left = Number(count ?? 0);

const store = openSqliteWriter({
  ...{ folder, at: removedAt },
  faults: (reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
while (await store.purge(removedAt));
await store.close();
