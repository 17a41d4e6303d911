/**
 * Compares the weather instrument with two simulated hosts: ten seeds over both protocols with every injected fault, or
 * the number of seeds given as the argument. `--seed N` runs only that seed, and `--wire NAME` only that protocol.
 */
import { parseArgs } from 'node:util';
import { proveWeather } from '../harness/weather/truth-run.ts';
import { wires } from '../src/contract/vocabulary.ts';

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, wire: { type: 'string' } },
  allowPositionals: true,
});
const one = values.seed === undefined ? null : Number(values.seed);
const read = wires.filter((wire) => values.wire === undefined || wire === values.wire);
if (read.length === 0) throw new Error(`--wire must be one of ${wires.join(', ')}`);
const last = one ?? Number(positionals[0] ?? 10);
for (let seed = one ?? 1; seed <= last; seed += 1) {
  for (const wire of read) {
    const { events, failoverMinutes, artifacts, problems } = await proveWeather({ seed, wire });
    console.log(
      `seed ${seed}, ${wire}: ${events} events, ${artifacts} artifacts, failover after ${failoverMinutes} minutes, ` +
        (problems.length === 0 ? 'as delivered' : 'WRONG'),
    );
    for (const problem of problems) console.log(`  ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}
