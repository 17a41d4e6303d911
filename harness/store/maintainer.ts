/** Runs a store's upkeep once and kills its own process at a fault point: `maintainer.ts FOLDER AT POINT`. */
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const [folder = '', now = '', point = ''] = process.argv.slice(2);
const at = micros(Number(now));
const store = openSqliteWriter({
  folder,
  at,
  faults: (reached) => {
    if (reached === point) process.kill(process.pid, 'SIGKILL');
  },
});
await store.maintain(at);
await store.close();
