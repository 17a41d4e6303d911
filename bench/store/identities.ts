/**
 * Measures the set of label identities with which a store detects duplicates, at today's rate and at multiples of it:
 * `node --expose-gc bench/store/identities.ts [--rows-a-day 1400000] [--times 1,10]`. Prints bytes and processor time
 * for each identity, without its hash. The longest call is in elapsed time, which includes pauses by the garbage
 * collector and by other programs.
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

const hashing = measureHashing();
for (const times of values.times.split(',').map(Number)) measure(times);

/** Adds the identities of three days, each after a look-up. A function, so that the set of the last rate is freed. */
function measure(times: number): void {
  const rows = rowsOfDay * times * days;
  const set = new IdentitySet(duplicateHorizon);
  const before = used();
  let [largest, most, longest, measuring] = [0, 0, 0, 0];
  const start = processorTime();
  for (let n = 0; n < rows; n++) {
    const identity = identityOf(n);
    const called = performance.now();
    if (set.has(identity)) throw new Error(`identity ${n} is taken for another one`);
    set.add(identity, Math.floor((n / rows) * days * day));
    longest = Math.max(longest, performance.now() - called);
    if (n % 200_000 > 0) continue;
    const paused = processorTime();
    [largest, most] = [Math.max(largest, used() - before), Math.max(most, set.size)];
    measuring += processorTime() - paused;
  }
  const each = (processorTime() - start - measuring) / rows - hashing;
  console.log(
    `at ${times} times the rate: at most ${most.toLocaleString('en')} identities, at most ${(largest / 1e6).toFixed(0)} MB, ` +
      `${(largest / most).toFixed(1)} bytes each; looked up and added in ${each.toFixed(2)} µs of processor time each; ` +
      `longest call ${longest.toFixed(1)} ms`,
  );
}

/** Returns the processor time of one hash, in microseconds, which the other figures leave out. */
function measureHashing(): number {
  const [count, start] = [1_000_000, processorTime()];
  for (let n = 0; n < count; n++) identityOf(n);
  return (processorTime() - start) / count;
}

/** Processor time of this process, in microseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function identityOf(n: number): Buffer {
  return createHash('sha256').update(String(n)).digest().subarray(0, 16);
}
