/**
 * Measures the set of label identities with which a store detects duplicates, at today's rate and at multiples of it:
 * `node --expose-gc bench/store/identities.ts [--rows-a-day 1400000] [--times 1,10]`. Prints bytes and processor time
 * for each identity. Elapsed time is not measured, because it depends on the load of the machine.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { IdentitySet } from '../../src/store/common/identity-set.ts';
import { duplicateHorizon } from '../../src/store/port.ts';
import { day } from '../../src/store/time.ts';

const { values } = parseArgs({
  options: {
    'rows-a-day': { type: 'string', default: '1400000' },
    times: { type: 'string', default: '1,10' },
  },
});
const rowsOfDay = Number(values['rows-a-day']);
/** Number of days after which the set has reached its maximum size. */
const days = 3;

for (const times of values.times.split(',').map(Number)) {
  const rows = rowsOfDay * times * days;
  const set = new IdentitySet(duplicateHorizon);
  const [before, cpu] = [used(), process.cpuUsage()];
  let [largest, most] = [0, 0];
  for (let n = 0; n < rows; n++) {
    set.add(identityOf(n), Math.floor((n / rows) * days * day));
    if (n % 200_000 === 0) [largest, most] = [Math.max(largest, used() - before), Math.max(most, set.size)];
  }
  const { user, system } = process.cpuUsage(cpu);
  const kept = used() - before;
  console.log(
    `at ${times} times the rate: at most ${most.toLocaleString('en')} identities, at most ${(largest / 1e6).toFixed(0)} MB, ` +
      `${(kept / set.size).toFixed(1)} bytes each at the end, ${((user + system) / rows).toFixed(2)} µs of processor time each`,
  );
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function identityOf(n: number): Buffer {
  return createHash('sha256').update(String(n)).digest().subarray(0, 16);
}
