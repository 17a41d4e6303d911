/**
 * Observes the real network with a whole observatory: `npm run test:network`. Everything that the accounts and labelers
 * do is recorded where the APIs confirm it, and compared with what the observatory publishes.
 */
import './loopback.mjs';
import { parseArgs } from 'node:util';
import { mockNetworkUtilities, TestNetwork, TestPds } from '@atproto/dev-env';
import { FirehoseWitness } from '../jetstream/firehose-witness.ts';
import { isQuiet } from '../jetstream/scene.ts';
import { StreamWitness } from '../jetstream/stream-witness.ts';
import { startDirectory } from '../network/fronts.ts';
import { archiveProblems } from '../network/judge.ts';
import { Ledger } from '../network/ledger.ts';
import { startWeather } from '../network/observatory.ts';
import { startCollections, startRelay, startRelayedJetstream } from '../network/peers.ts';
import { judgeWeather, totalsOf } from '../network/weather.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { until } from '../process/until.ts';
import { observeLabels, takeDown } from './network-labels.mjs';
import { act, changeAccounts, createPeople, moveAccount } from './people.mjs';

const { values } = parseArgs({
  options: {
    ...{ relay: { type: 'string' }, collections: { type: 'string' } },
    ...{ jetstream: { type: 'string' }, labeler: { type: 'string' } },
    accounts: { type: 'string', default: '50' },
  },
});
/** Number of accounts. */
const count = Number(values.accounts);
/** Number of accounts of labelers. */
const labelerCount = 4;
/** Number of rounds in which each account acts. */
const rounds = 2;
/** Time after which the minute of the last event is closed, in milliseconds. */
const closedMs = 125_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const { folder: home, remove } = temporaryFolder('network');
const cleaning = [remove];
let wrong = 0;

function judged(what, problems) {
  process.stdout.write(`${problems.length === 0 ? 'ok' : 'WRONG'}  ${what}\n`);
  for (const problem of problems.slice(0, 10)) process.stdout.write(`    ${problem}\n`);
  if (problems.length > 0) wrong += 1;
}

/** Starts the network: directory, two hosts, Ozone, relay, list of collections, Jetstream. */
async function startNetwork() {
  const network = await TestNetwork.create({ dbPostgresSchema: 'almanac' });
  cleaning.push(() => network.close());
  const directory = await startDirectory(network.plc.url);
  cleaning.push(() => directory.close());
  const otherHost = await TestPds.create({ didPlcUrl: network.plc.url });
  cleaning.push(() => otherHost.close());
  mockNetworkUtilities(otherHost);
  const hosts = [network.pds, otherHost].map(({ url }) => new URL(url).host);
  const relay = await startRelay(values.relay, home, hosts, directory.url);
  cleaning.push(() => relay.peer.signal('SIGKILL'));
  const jetstream = await startRelayedJetstream(values.jetstream, home, relay.url, directory.url);
  cleaning.push(() => jetstream.peer.signal('SIGKILL'));
  const collections = await startCollections(values.collections, home, relay.url);
  cleaning.push(() => collections.peer.signal('SIGKILL'));
  return { network, otherHost, directory, relay, jetstream, collections, home, ledger: new Ledger() };
}

async function observe() {
  const stage = await startNetwork();
  const { network, relay, jetstream, ledger } = stage;
  const firehose = await FirehoseWitness.connect(relay.url);
  cleaning.push(() => firehose.stop());
  const witnesses = {
    legacy: new StreamWitness(jetstream.url, 'legacy'),
    current: new StreamWitness(jetstream.url, 'current'),
  };
  for (const witness of Object.values(witnesses)) cleaning.push(() => witness.stop());
  const weather = await startWeather(home, { jetstream: jetstream.url });
  cleaning.push(() => Promise.all(weather.map(({ program }) => program.kill())));
  const people = await createPeople(ledger, network.pds.url, count);
  const observatory = await observeLabels({ ...stage, people, weather, files: values, judged, cleaning });
  await actInTurn(stage, people, firehose);
  await isQuiet({ relay: firehose, witnesses });
  await pause(closedMs);
  const totals = totalsOf(ledger);
  judged('the archive has what was published', await archiveProblems(observatory, ledger, totals));
  const problems = await judgeWeather({ ledger, firehose, witnesses, weather, place: jetstream.place });
  const operations = `${ledger.operations.size} operations of ${count + labelerCount} accounts`;
  judged(`${operations}, and the changes of the accounts, are counted over both protocols`, problems);
  judged('all programs end without an error', await observatory.stop());
}

/** Lets all accounts act, and changes some between the rounds. */
async function actInTurn(stage, people, firehose) {
  const { network, otherHost, ledger } = stage;
  for (let round = 0; round < rounds; round += 1) {
    for (const [n, person] of people.entries()) {
      await act(ledger, person, [people[(n + 1 + round) % count], people[(n + 7) % count]], round);
    }
    if (round > 0) continue;
    const isAnnounced = (did, sinceMs) =>
      [...firehose.events.values()].some(
        ({ key, arrivedUs }) => key.startsWith(`account ${did} `) && arrivedUs >= sinceMs * 1000,
      );
    const gone = await createPeople(ledger, network.pds.url, 1, 'gone');
    // A host that deletes an account never sends the earlier events of the account that it has not sent yet.
    for (const { did } of gone) await until(`the relay announces ${did}`, () => isAnnounced(did, 0));
    const change = { pds: network.pds, takeDown: (did, applied) => takeDown(stage, did, applied) };
    await changeAccounts(ledger, [...people.slice(0, 3), ...gone], change);
    const move = { from: network.pds, to: otherHost, isAnnounced };
    for (const person of people.slice(3, 5)) await moveAccount(ledger, person, move);
  }
}

try {
  await observe();
} catch (error) {
  judged('the run', [String(error?.stack ?? error)]);
} finally {
  for (const clean of cleaning.reverse()) await clean();
}
process.exit(wrong === 0 ? 0 : 1);
