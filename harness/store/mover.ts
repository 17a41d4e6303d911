/** Moves a store and kills its own process at a fault point: `mover.ts new-epoch|restore FOLDER AT POINT [FROM]`. */
import { setStoreAside } from '../../src/store/sqlite/repair/new-epoch.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { micros } from '../../src/store/time.ts';

const [command = '', folder = '', now = '', point = '', from = ''] = process.argv.slice(2);
const at = micros(Number(now));
const faults = (reached: string): void => {
  if (reached === point) process.kill(process.pid, 'SIGKILL');
};
if (command === 'new-epoch') setStoreAside(folder, new Date(at / 1000), faults);
else await restoreStore({ from, folder, at, faults });
