/** The labels of the real network: labelers of several authors, and the programs that observe them. */
import { AtpAgent } from '@atproto/api';
import {
  accountProblems,
  difference,
  documentProblems,
  labelerFacts,
  overviewProblems,
  settled,
} from '../network/judge.ts';
import { startObservatory } from '../network/observatory.ts';
import { relayPassword } from '../network/peers.ts';
import { until } from '../process/until.ts';
import { GoLabeler, OzoneLabeler, SkywareLabeler } from './labelers.mjs';
import { create, createPeople } from './people.mjs';

/** Number of accounts that are labeled. */
const labeledCount = 8;
/** The labeler in Go authors its labels in whole seconds, so that equal labels must be further apart. */
const apartMs = 1_100;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Labels accounts and posts through each labeler: applied, removed, applied again, and with an expiry. */
async function emit(labelers, people, value) {
  const expiry = new Date(Date.now() + 3_600_000).toISOString();
  for (const labeler of labelers) {
    for (const { did, post } of people) {
      await labeler.label({ uri: did, val: value });
      await labeler.label({ ...post, val: value });
    }
  }
  await pause(apartMs);
  for (const labeler of labelers) {
    for (const { did } of people.slice(0, 3)) await labeler.label({ uri: did, val: value, neg: true });
  }
  await pause(apartMs);
  for (const labeler of labelers) {
    await labeler.label({ uri: people[0].did, val: value });
    if (!(labeler instanceof OzoneLabeler)) await labeler.label({ uri: people[1].did, val: value, exp: expiry });
  }
}

/** Starts the labelers and the observatory. Two labelers exist before it, two begin while it observes. */
async function begin(stage) {
  const { network, directory, jetstream, collections, weather, home, files, cleaning, ledger } = stage;
  const accounts = await createPeople(ledger, network.pds.url, 3, 'labeler');
  const agent = new AtpAgent({ service: network.pds.url });
  await agent.login({ identifier: 'mod-authority.test', password: 'hunter2' });
  const ozone = new OzoneLabeler(stage, 'Ozone', { did: agent.session.did, agent, records: [] });
  const paged = await SkywareLabeler.start(stage, accounts[0], { pagesOnly: true });
  cleaning.push(() => paged.stop());
  for (const labeler of [ozone, paged]) await labeler.writeRecord();
  await until('the labelers are listed', async () => (await listed(collections)).length === 2);
  const observed = { jetstream: jetstream.url, relay: collections.url, directory: directory.url };
  const observatory = await startObservatory(home, observed, weather);
  cleaning.push(() => observatory.stop());
  for (const { did } of [ozone, paged]) await isEstablished(observatory, did);
  const skyware = await SkywareLabeler.start(stage, accounts[1], { pagesOnly: false });
  cleaning.push(() => skyware.stop());
  const go = await GoLabeler.start(stage, accounts[2], files.labeler);
  cleaning.push(() => go.stop());
  for (const labeler of [skyware, go]) await labeler.writeRecord();
  await isEstablished(observatory, skyware.did);
  // The stream of a labeler without labels and without pages has shown nothing yet.
  await until('the labeler in Go is known', async () => (await labelerFacts(observatory, go.did))?.enrolled === true);
  return { observatory, labelers: { ozone, paged, skyware, go } };
}

async function listed({ url }) {
  const query = `${url}/xrpc/com.atproto.sync.listReposByCollection?collection=app.bsky.labeler.service`;
  return (await (await fetch(query)).json()).repos.map(({ did }) => did);
}

async function isEstablished(observatory, did) {
  const state = async () => (await labelerFacts(observatory, did))?.state;
  await until(`${did} is established`, async () => (await state()) === 'established');
}

/** Observes the labelers, whatever they do. Returns the observatory, whose services still run. */
export async function observeLabels(stage) {
  const { collections, people, home, judged, ledger } = stage;
  const { observatory, labelers } = await begin(stage);
  const { ozone, paged, skyware, go } = labelers;
  const all = [ozone, paged, skyware, go];
  const found = await Promise.all(all.map(async ({ did }) => (await labelerFacts(observatory, did))?.found_by));
  judged('labelers are found in the list of the relay, and by Jetstream once they write their record', [
    ...found.slice(0, 2).flatMap((ways, n) => difference(`${all[n].name}: found_by`, ways, ['relay'])),
    ...found.slice(2).flatMap((ways, n) => (ways?.includes('jetstream') ? [] : [`${all[n + 2].name}: ${ways}`])),
  ]);

  const labeled = [];
  for (const person of people.slice(0, labeledCount)) {
    const { uri, cid } = await create(ledger, person, 'app.bsky.feed.post', { text: 'To be labeled' });
    labeled.push({ did: person.did, post: { uri, cid } });
  }
  const expected = () => [
    ...[ozone, skyware, go].map(({ name, did, values }) => ({ name, did, readBy: 'stream', values })),
    { name: paged.name, did: paged.did, readBy: 'pages', values: paged.values },
  ];
  /** Compares everything that is published about labels with everything that was done. */
  const compare = async (what, accounts = labeled.slice(0, 3)) => {
    const dids = accounts.map(({ did }) => did);
    const published = async () => [
      ...(await overviewProblems(observatory, ledger, all.length)),
      ...(await documentProblems(observatory, ledger, expected())),
    ];
    judged(`${what}: account pages, exports, overview and documents (${ledger.labels.length} labels)`, [
      ...(await settled(published)),
      ...(await accountProblems(observatory, ledger, home, dids)),
    ]);
  };
  await emit(all, labeled, 'spam');
  await compare('labels by stream and by page', [...labeled, people.at(-1)]);

  await skyware.rotate();
  await emit([skyware], labeled.slice(0, 2), 'rude');
  await compare('a labeler rotates its key');

  await go.move();
  await emit([go], labeled.slice(0, 2), 'rude');
  await compare('a labeler moves its endpoint');

  await paged.writeRecord(['spam', 'rude', 'new-value']);
  await emit([paged], labeled.slice(0, 2), 'new-value');
  await compare('a labeler changes its record');

  await takeDown(stage, paged.did, true);
  await emit([paged, ozone], labeled.slice(0, 2), 'scam');
  await compare('the host takes an account of a labeler down');
  await takeDown(stage, paged.did, false);

  await skyware.deleteRecord();
  await emit([skyware], labeled.slice(0, 2), 'scam');
  await compare('a labeler loses its record');
  judged('the list of the relay still names the labeler without a record', [
    ...difference('listed', (await listed(collections)).includes(skyware.did), true),
  ]);

  await relayTakesDown(stage, go.did, true);
  await emit([go], labeled.slice(0, 2), 'scam');
  await compare('the relay takes an account of a labeler down');
  await relayTakesDown(stage, go.did, false);

  await paged.withdraw();
  const left = expected().filter(({ did }) => did !== paged.did);
  judged(
    'a labeler withdraws its service: it is not read any more, and its labels are kept',
    await settled(async () => [
      ...difference('enrolled', (await labelerFacts(observatory, paged.did))?.enrolled, false),
      ...difference(
        'events',
        (await labelerFacts(observatory, paged.did))?.events.window,
        ledger.labels.filter(({ labeler }) => labeler === paged.did).length,
      ),
      ...(await overviewProblems(observatory, ledger, left.length)),
      ...(await documentProblems(observatory, ledger, left)),
    ]),
  );
  return observatory;
}

/** Takes an account down at its host, or reverses this. */
export async function takeDown({ network: { pds }, ledger }, did, applied) {
  const subject = { $type: 'com.atproto.admin.defs#repoRef', did };
  const response = await fetch(`${pds.url}/xrpc/com.atproto.admin.updateSubjectStatus`, {
    method: 'POST',
    headers: { ...pds.adminAuthHeaders(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ subject, takedown: { applied } }),
  });
  if (!response.ok) throw new Error(`the host refused the takedown: ${await response.text()}`);
  ledger.announce(did, 'account');
}

/** Takes an account down at the relay, or reverses this. */
async function relayTakesDown({ relay, ledger }, did, applied) {
  const response = await fetch(`${relay.url}/admin/repo/${applied ? 'takeDown' : 'reverseTakedown'}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Basic ${Buffer.from(`admin:${relayPassword}`).toString('base64')}`,
    },
    body: JSON.stringify({ did }),
  });
  if (!response.ok) throw new Error(`the relay refused the takedown: ${await response.text()}`);
  ledger.announce(did, 'account');
}
