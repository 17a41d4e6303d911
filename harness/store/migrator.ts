/**
 * Opens a store of an earlier version, appends an empty batch, and kills its own process at a fault point: `migrator.ts
 * FOLDER AT [POINT:COUNT]`.
 */
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const [folder = '', now = '', fault = ''] = process.argv.slice(2);
const at = micros(Number(now));
const [point, count] = fault.split(':');
let left = Number(count ?? 0);

const store = openSqliteWriter({
  ...{ folder, at },
  faults: (reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
await store.append({ at, observations: [], refusals: [], positions: [] });
await store.close();
