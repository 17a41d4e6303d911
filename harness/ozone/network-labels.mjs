/** The labels of the real network: labelers of several authors, and the programs that observe them. */
import { AtpAgent } from '@atproto/api';
import { startObservatory } from '../network/observatory.ts';
import { until } from '../process/until.ts';
import { GoLabeler, OzoneLabeler, SkywareLabeler } from './labelers.mjs';
import { createPeople } from './people.mjs';

export async function observeLabels(stage) {
  const { network, directory, jetstream, collections, people, weather, home, files, judged, cleaning, ledger } = stage;
  const [first, second, third] = await createPeople(network.pds.url, 3, 'labeler');
  const agent = new AtpAgent({ service: network.pds.url });
  await agent.login({ identifier: 'mod-authority.test', password: 'hunter2' });
  const ozone = await OzoneLabeler.of(stage, { did: agent.session.did, agent, records: [] });
  await ozone.writeRecord();
  const paged = await SkywareLabeler.start(stage, first, { pagesOnly: true });
  await paged.writeRecord();
  const url = `${collections.url}/xrpc/com.atproto.sync.listReposByCollection?collection=app.bsky.labeler.service`;
  const listed = async () => (await (await fetch(url)).json()).repos.map(({ did }) => did);
  await until('the labelers are listed', async () => (await listed()).length >= 2);
  console.log(await listed());
  const observed = { jetstream: jetstream.url, relay: collections.url, directory: directory.url };
  const observatory = await startObservatory(home, observed, weather);
  cleaning.push(() => observatory.stop());
  const skyware = await SkywareLabeler.start(stage, second, { pagesOnly: false });
  const go = await GoLabeler.start(stage, third, files.labeler);
  await skyware.writeRecord();
  await go.writeRecord();
  const doc = async (did) => { const r = await fetch(`${observatory.facts.url}/labelers/${did}.json`); return { status: r.status, body: await r.json() }; };
  await new Promise((r) => setTimeout(r, 40000));
  for (const l of [ozone, paged, skyware, go]) console.log(l.name, JSON.stringify(await doc(l.did)));
  for (const l of [ozone, paged, skyware, go]) await l.label({ uri: people[0].did, val: 'spam' });
  await new Promise((r) => setTimeout(r, 35000));
  for (const l of [ozone, paged, skyware, go]) console.log(l.name, JSON.stringify((await doc(l.did)).body.facts ?? await doc(l.did)));
  console.log(await (await fetch(`${observatory.account.url}/exports?did=${people[0].did}`)).text());
  console.log(observatory.labels.stderr.join('\n'));
  console.log(JSON.stringify(await (await fetch(`${observatory.facts.url}/v1/labels/overview`)).json()));
}
