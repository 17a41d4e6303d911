import { copyFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { createSim } from '../../../sim/index.ts';
import { makeFolder } from '../../ops/errors.ts';
import { storeFile } from '../../weather/window/window-store.ts';
import type { PastMessage, PastOrder } from './demo.ts';
import { writePastArchive } from './past-archive.ts';
import { writeWeatherHistory } from './weather-history.ts';

/**
 * The process that writes the simulated past of a demo. It writes the weather store first, and the archive while the
 * demo is already shown. It then exits, which frees its memory.
 */

/** Scheduling priority (nice value) of this process while the demo is shown. */
const backgroundPriority = 5;

const order = JSON.parse(process.argv[2] ?? '{}') as PastOrder;
const { data, archive, endpoint, endUs, seed, rate } = order;
const scratch = join(data, 'past');

// The channel closes if the demo is killed.
process.once('disconnect', () => process.exit(1));

await writeWeatherHistory({ data, endpoint, sim: createSim({ seed, rate }), endUs, missed: true });
makeFolder(scratch);
// Copy the store, because the instrument opens the original exclusively.
copyFileSync(join(data, storeFile), join(scratch, storeFile));
await report('weather');
await new Promise((resolve) => process.once('message', resolve));
try {
  setPriority(backgroundPriority);
} catch {
  // Without the permission to change the priority, the processes share the processor equally.
}
let hasBegun = false;
await writePastArchive({
  ...{ data, scratch, archive, endpoint, endUs },
  begun: () => {
    if (!hasBegun) void report('begun');
    hasBegun = true;
  },
});
process.disconnect();

function report(message: PastMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}
