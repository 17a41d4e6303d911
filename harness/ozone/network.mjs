/**
 * Observes the real network with a whole observatory: `npm run test:network`. Everything that the accounts and labelers
 * do is recorded where the APIs confirm it, and compared with what the observatory publishes.
 */
import './loopback.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TestNetwork } from '@atproto/dev-env';
import { FirehoseWitness } from '../jetstream/firehose-witness.ts';
import { StreamWitness } from '../jetstream/stream-witness.ts';
import { startDirectory } from '../network/directory.ts';
import { Ledger } from '../network/ledger.ts';
import { startWeather } from '../network/observatory.ts';
import { startCollections, startRelay, startRelayedJetstream } from '../network/peers.ts';
import { judgeWeather } from '../network/weather.ts';
import { observeLabels } from './network-labels.mjs';
import { act, createPeople } from './people.mjs';

const { values: files } = parseArgs({
  options: {
    ...{ relay: { type: 'string' }, collections: { type: 'string' } },
    ...{ jetstream: { type: 'string' }, labeler: { type: 'string' } },
  },
});
/** Number of accounts. */
const count = Number(process.env.COUNT ?? 50);
const home = mkdtempSync(join(tmpdir(), 'almanac-network-'));
const cleaning = [() => rmSync(home, { recursive: true, force: true })];
let wrong = 0;

function judged(what, problems) {
  process.stdout.write(`${problems.length === 0 ? 'ok ' : 'WRONG'} ${what}\n`);
  for (const problem of problems.slice(0, 10)) process.stdout.write(`    ${problem}\n`);
  if (problems.length > 0) wrong += 1;
}

/** Starts the network: directory, host, Ozone, relay, list of collections, Jetstream. */
async function startNetwork() {
  const network = await TestNetwork.create({ dbPostgresSchema: 'almanac' });
  cleaning.push(() => network.close());
  const directory = await startDirectory(network.plc.url);
  cleaning.push(() => directory.close());
  const relay = await startRelay(files.relay, home, new URL(network.pds.url).host, directory.url);
  cleaning.push(() => relay.peer.signal('SIGKILL'));
  const jetstream = await startRelayedJetstream(files.jetstream, home, relay.url, directory.url);
  cleaning.push(() => jetstream.peer.signal('SIGKILL'));
  const collections = await startCollections(files.collections, home, relay.url);
  cleaning.push(() => collections.peer.signal('SIGKILL'));
  return { network, directory, relay, jetstream, collections, home, ledger: new Ledger() };
}

async function observe() {
  const stage = await startNetwork();
  const { network, relay, jetstream, ledger } = stage;
  const firehose = await FirehoseWitness.connect(relay.url);
  cleaning.push(() => firehose.stop());
  const witnesses = { legacy: new StreamWitness(jetstream.url, 'legacy'), current: new StreamWitness(jetstream.url, 'current') };
  cleaning.push(() => Object.values(witnesses).forEach((witness) => witness.stop()));
  const weather = await startWeather(home, { jetstream: jetstream.url });
  cleaning.push(() => Promise.all(weather.map(({ program }) => program.kill())));
  const people = await createPeople(network.pds.url, count);
  const labels = await observeLabels({ ...stage, people, weather, files, judged, cleaning });
  for (let round = 0; round < 2; round += 1) {
    for (const [n, person] of people.entries()) {
      await act(ledger, person, [people[(n + 1 + round) % count], people[(n + 7) % count]], round);
    }
  }
  const problems = await judgeWeather({ ledger, firehose, witnesses, weather, place: jetstream.place });
  judged(`${ledger.operations.size} operations of ${count} accounts are counted, over both protocols`, problems);
  if (process.env.PEERS) console.log(weather.map(({program})=>program.stderr.slice(-6).join('\n')).join('\n--\n'));
  if (process.env.PEERS) console.log(jetstream.peer.lines.slice(-10).join('\n'), relay.peer.lines.slice(-10).join('\n'));
}

try {
  await observe();
} catch (error) {
  judged('the run', [String(error?.stack ?? error)]);
} finally {
  for (const clean of cleaning.reverse()) await clean();
}
process.exit(wrong === 0 ? 0 : 1);
