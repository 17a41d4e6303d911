/**
 * Observes a real Jetstream on the network that its own repository simulates, and compares every published count with
 * the relay: `npm run test:jetstream -- --jetstream FILE --network FILE [--adversary FILE] [--dictionary FILE]
 * [--only TEXT]`. The files are the built commands `cmd/jetstream` and `cmd/simulator` of
 * github.com/bluesky-social/jetstream, and `harness/jetstream/adversary` built in the same module. With
 * `--processor-time` it compares the processor time of both programs instead.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runCases } from '../../harness/jetstream/cases.ts';
import { measureProcessorTime } from '../../harness/jetstream/processor-time.ts';

const { values } = parseArgs({
  options: {
    jetstream: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    adversary: { type: 'string' },
    dictionary: { type: 'string' },
    only: { type: 'string', default: '' },
    'processor-time': { type: 'boolean', default: false },
  },
});
const { jetstream, network, adversary, dictionary, only } = values;
const missing = [
  ...(existsSync(jetstream) ? [] : ['--jetstream FILE']),
  ...(existsSync(network) ? [] : ['--network FILE']),
  ...(adversary === undefined || existsSync(adversary) ? [] : ['--adversary FILE']),
  ...(dictionary === undefined || existsSync(dictionary) ? [] : ['--dictionary FILE']),
];
if (missing.length > 0) {
  console.error(`missing ${missing.join(', ')}: see "A real Jetstream" in docs/testing.md`);
  process.exit(1);
}
const files = { jetstream, network, adversary: adversary ?? null, dictionary: dictionary ?? null };
if (values['processor-time']) {
  await measureProcessorTime(files, console.log);
  process.exit(0);
}
const wrong = await runCases(files, only, console.log);
process.exit(wrong === 0 ? 0 : 1);
