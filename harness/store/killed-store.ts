/**
 * Does one work on a store in SQLite and kills its own process when it reaches the fault point FAULT for the COUNT-th
 * time (default 1): `killed-store.ts WORK FOLDER AT [FAULT[:COUNT]] [DETAIL]`. AT is the time of the work in microseconds.
 */
import { setStoreAside } from '../../src/store/sqlite/repair/repair.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const [work = '', folder = '', now = '', fault = '', detail = ''] = process.argv.slice(2);
const at = micros(Number(now));
const [point, count = '1'] = fault.split(':');
let left = Number(count);
const faults = (reached: string): void => {
  if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
};

type Store = ReturnType<typeof openSqliteWriter>;

const onWriter: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  /** Runs the upkeep once. */
  maintain: (store) => store.maintain(at),
  /** Appends an empty batch, to a store of an earlier version. */
  migrate: (store) => store.append({ at, observations: [], refusals: [], positions: [] }),
  /** Removes the rows of the labeler DETAIL; without DETAIL, the rows whose removal is pending. */
  async purge(store) {
    if (detail !== '') await store.requestPurge({ source: detail, at });
    while (await store.purge(at));
  },
};

const onWhole: Readonly<Record<string, () => unknown>> = {
  /** Sets the store aside for a new epoch. */
  'new-epoch': () => setStoreAside(folder, new Date(at / 1000), faults),
  /** Restores the store from the backup in DETAIL. */
  restore: () => restoreStore({ from: detail, folder, at, faults }),
};

const act = onWriter[work];
if (act) {
  const store = openSqliteWriter({ folder, at, faults });
  await act(store);
  await store.close();
} else {
  const whole = onWhole[work];
  if (!whole) throw new Error(`unknown work ${work}`);
  await whole();
}
