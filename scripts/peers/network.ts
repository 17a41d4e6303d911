/**
 * Observes the real network on this machine, and compares everything that Almanac publishes with what was done:
 * `npm run test:network -- --relay FILE --collections FILE --jetstream FILE --labeler FILE [--accounts N]`. The files are
 * the built commands `cmd/relay` and `cmd/collectiondir` of github.com/bluesky-social/indigo, `cmd/jetstream` of
 * github.com/bluesky-social/jetstream and `cmd/labeler` of github.com/bsky-watch/labeler. The directory, the host of
 * the accounts and Ozone are npm packages, which the first run installs as `npm run test:ozone` does.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { missingServices, runWithServices } from '../../harness/ozone/services.ts';

const file = { type: 'string', default: '' } as const;
const { values } = parseArgs({
  options: {
    ...{ relay: file, collections: file, jetstream: file, labeler: file },
    accounts: { type: 'string', default: '50' },
  },
});
const { accounts, ...files } = values;
const entries = Object.entries(files);
const services = missingServices();
const missing = [
  ...entries.filter(([, path]) => !existsSync(path)).map(([name]) => `--${name} FILE`),
  ...(services.length === 0 ? [] : [`apt-get install ${services.join(' ')}`]),
];
if (missing.length > 0) {
  console.error(`missing ${missing.join(', ')}: see "A real network" in docs/testing.md`);
  process.exit(1);
}
const args = entries.flatMap(([name, path]) => [`--${name}`, resolve(path)]);
process.exitCode = await runWithServices('network.mjs', [...args, '--accounts', accounts]);
