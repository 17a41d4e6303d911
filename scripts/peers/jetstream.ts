/**
 * Observes a real Jetstream on the network that its own repository simulates, and compares every published count with
 * the relay: `npm run test:jetstream -- --jetstream FILE --network FILE [--dictionary FILE] [--only TEXT]`. The files
 * are the built commands `cmd/jetstream` and `cmd/simulator` of github.com/bluesky-social/jetstream.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runCases } from '../../harness/jetstream/cases.ts';

const { values } = parseArgs({
  options: {
    jetstream: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    dictionary: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const { jetstream, network, dictionary, only } = values;
const missing = [
  ...(existsSync(jetstream) ? [] : ['--jetstream FILE']),
  ...(existsSync(network) ? [] : ['--network FILE']),
  ...(dictionary === undefined || existsSync(dictionary) ? [] : ['--dictionary FILE']),
];
if (missing.length > 0) {
  console.error(`missing ${missing.join(', ')}: see "A real Jetstream" in docs/testing.md`);
  process.exit(1);
}
const wrong = await runCases({ jetstream, network, dictionary: dictionary ?? null }, only, console.log);
process.exit(wrong === 0 ? 0 : 1);
