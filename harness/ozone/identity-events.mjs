/**
 * Observes the labeler through the events of its account. The real host of the account emits the events, and the
 * bridge serves them as a Jetstream. The instrument has no other way to detect a change: it has no stream of the
 * directory, reads a document again only once a day, and can still read the labeler at its old endpoint.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Secp256k1Keypair } from '@atproto/crypto';
import { createUpdateOp } from '@did-plc/lib';
import { removeStation, startStation } from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { startJetstreamBridge } from './firehose.ts';
import { startTcpRelay } from './tcp-relay.mjs';

/** Runs this part of the proof. The parameters are the network and the functions of observe.mjs. */
export async function observeIdentityEvents(proof) {
  const { did, network } = proof;
  const { ozone, pds } = network;
  const relay = await startTcpRelay(Number(new URL(ozone.url).port));
  const bridge = await startJetstreamBridge(pds.url);
  const documents = await startDocuments(network.plc.url);
  const directory = network.plc.getClient();
  const update = (change) => directory.updateData(did, pds.ctx.plcRotationKey, change);
  const stage = { ...proof, relay, bridge, documents, directory, update };
  // Register the key with which Ozone signs: a label that the registered key does not verify causes a read of the
  // document.
  const registerOwnKey = () => update(withKey(ozone.ctx.signingKey.did()));

  await registerOwnKey();
  const station = await startInformed(stage, []);
  await observeRecord(stage, station);
  await observeIdentity(stage, station);
  await finish(stage, station);
  await registerOwnKey();
  await observeAccount(stage, 'deactivateAccount', { from: relay.url, to: ozone.url, body: {}, kinds: ['account'] });
  const kinds = ['account', 'identity'];
  await observeAccount(stage, 'activateAccount', { from: ozone.url, to: relay.url, body: null, kinds });
  proof.passed('after an account event the document is read again, and labels of a deactivated account are still read');

  documents.close();
  relay.close();
  await bridge.stop();
}

async function observeRecord(stage, station) {
  const { did, record, callPds, accessJwt, established, passed } = stage;
  const policies = { labelValues: ['spam', 'rude'], labelValueDefinitions: [] };
  const content = { $type: record.collection, policies, createdAt: new Date().toISOString() };
  await callPds('repo.putRecord', { ...record, record: content }, accessJwt);
  await until('the labeler is established', () => established(station));
  assert.deepEqual((await rosterRow(stage, station)).provenance, ['jetstream']);
  await until(
    'the definitions of the labeler are stored',
    async () => (await station.store.definitions(did)).length === 1,
  );
  assert.equal(await observe(stage, station, 'after-the-record'), 'verified');
  passed('a labeler is enrolled when it commits its record, and its labels are verified');
}

async function observeIdentity(stage, station) {
  const { did, network, relay, bridge, documents, directory, update, callPds, accessJwt, passed } = stage;
  const documentReads = () => documents.reads.filter((path) => path === `/${did}`).length;
  // The instrument looks again some seconds after each event. On a slow machine it may look after the key was changed.
  documents.hold(did, await (await fetch(`${documents.url}/${did}`)).text());
  await update(withKey((await Secp256k1Keypair.create()).did()));
  // No event has reported the new key, so the instrument still verifies labels with the old key.
  assert.equal(await observe(stage, station, 'unannounced'), 'verified');
  const before = documentReads();
  const seen = bridge.events.length;
  const last = await directory.getLastOp(did);
  const operation = await createUpdateOp(last, network.pds.ctx.plcRotationKey, withEndpoint(relay.url));
  await callPds('identity.submitPlcOperation', { operation }, accessJwt);
  // Until the event, even a look that is due after an earlier one finds the former document.
  await until('the identity event', () => kindsAfter(stage, seen).length > 0);
  documents.release();
  await learns(stage, station, relay.url);
  assert.ok(documentReads() > before);
  assert.deepEqual(kindsAfter(stage, seen), ['identity']);
  await until('the labeler is read at its new endpoint', () => relay.connections > 0);
  assert.equal(await observe(stage, station, 'announced'), 'verified_earlier_key');
  const values = (await stage.rowsOf(station)).map(({ label }) => label.val);
  assert.deepEqual(values, ['after-the-record', 'unannounced', 'announced']);
  passed('a new key and a new endpoint are read only after the identity event');
}

async function observeAccount(stage, method, { from, to, body, kinds }) {
  const { did, bridge, update, callPds, accessJwt, established } = stage;
  const station = await startInformed(stage, [did]);
  await until('the labeler is established', () => established(station));
  // The roster may have been stored before the instrument read the document.
  await learns(stage, station, from);
  await update(withEndpoint(to));
  await observe(stage, station, `before-${method}`);
  assert.equal((await rosterRow(stage, station)).endpoint, from);
  const seen = bridge.events.length;
  await callPds(`server.${method}`, body, accessJwt);
  await learns(stage, station, to);
  await until('all events', () => kindsAfter(stage, seen).length >= kinds.length);
  assert.deepEqual(kindsAfter(stage, seen), kinds);
  await observe(stage, station, `after-${method}`);
  await finish(stage, station);
}

/**
 * Starts a host that serves the documents and audit logs of the directory, but not the directory's stream. Between
 * `hold` and `release` it serves the given document of a DID, as a replica does that lags.
 */
async function startDocuments(plc) {
  const reads = [];
  const held = new Map();
  const server = createServer((request, response) => {
    void (async () => {
      if (!request.url.startsWith('/did:plc:')) return response.writeHead(404).end();
      reads.push(request.url);
      const former = held.get(request.url);
      if (former !== undefined) return response.writeHead(200, { 'Content-Type': 'application/json' }).end(former);
      const answer = await fetch(`${plc}${request.url}`);
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
    })();
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${server.address().port}`,
    reads,
    hold: (did, document) => void held.set(`/${did}`, document),
    release: () => held.clear(),
    close: () => server.close(),
  };
}

/** Starts an instrument that reads the events from now on. */
async function startInformed({ network, bridge, documents }, seeds) {
  await until('the bridge is up to date', async () => bridge.seq === (await network.pds.ctx.sequencer.curr()));
  const station = await startStation({ seeds, plc: documents.url, jetstream: bridge.url });
  await until('the instrument reads the bridge', () => bridge.consumers === 1);
  return station;
}

async function finish({ bridge }, station) {
  await station.stop();
  removeStation(station);
  await until('the instrument has disconnected from the bridge', () => bridge.consumers === 0);
}

/** Emits a label, and waits until the instrument has stored it. Returns the verdict on its signature. */
async function observe({ emit, rowsOf }, station, value) {
  const before = (await rowsOf(station)).length;
  await emit({ createLabelVals: [value] });
  await until(`the label ${value} is stored`, async () => (await rowsOf(station)).length > before);
  const { label, signature } = (await rowsOf(station)).at(-1);
  assert.equal(label.val, value);
  return signature;
}

/** Returns the labeler's row in the roster, waiting for it if necessary. */
async function rosterRow({ did }, { store }) {
  const find = async () => (await store.roster()).find((row) => row.did === did);
  await until('the labeler is in the roster', async () => (await find()) !== undefined);
  return find();
}

async function learns(stage, station, endpoint) {
  await until('the new endpoint is known', async () => (await rosterRow(stage, station)).endpoint === endpoint);
}

/** Returns the kinds of the labeler's events after the first `count` events of the bridge. */
function kindsAfter({ bridge, did }, count) {
  return bridge.events
    .slice(count)
    .filter((event) => event.did === did)
    .map(({ kind }) => kind);
}

function withKey(key) {
  return (data) => ({ ...data, verificationMethods: { ...data.verificationMethods, atproto_label: key } });
}

function withEndpoint(endpoint) {
  const labeler = { type: 'AtprotoLabeler', endpoint };
  return (data) => ({ ...data, services: { ...data.services, atproto_labeler: labeler } });
}
