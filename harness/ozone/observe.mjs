/**
 * Runs the real label instrument against a real Ozone, by stream and by poll: `npm run test:ozone`. The labels that
 * Ozone emits are read from its pages and compared with the accepted labels.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Secp256k1Keypair } from '@atproto/crypto';
import { TestNetwork } from '@atproto/dev-env';
import { micros } from '../../src/store/time.ts';
import { removeStation, startStation } from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { observeIdentityEvents } from './identity-events.mjs';
import { startTcpRelay } from './tcp-relay.mjs';

const label = 'tools.ozone.moderation.defs#modEventLabel';
const network = await TestNetwork.create({ dbPostgresSchema: 'almanac' });
const { ozone, plc } = network;
const did = ozone.ctx.cfg.service.did;
const pages = `${ozone.url}/xrpc/com.atproto.label.queryLabels?uriPatterns=*&limit=250`;

/** Page requests wait until this promise resolves. */
let held = Promise.resolve();
/** Number of page requests that were received. */
let pageRequests = 0;

/** Serves the directory and the labeler without a stream, for an instrument that must poll. */
const withoutStream = createServer((request, response) => {
  void (async () => {
    const { port } = withoutStream.address();
    if (request.url.startsWith('/did:plc:')) {
      const text = await (await fetch(`${plc.url}${request.url}`)).text();
      response
        .setHeader('Content-Type', 'application/json')
        .end(text.replaceAll(ozone.url, `http://localhost:${port}`));
    } else if (request.url.includes('queryLabels')) {
      pageRequests += 1;
      await held;
      const answer = await fetch(`${ozone.url}${request.url}`);
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
    } else response.writeHead(501).end();
  })();
});
await new Promise((resolve) => withoutStream.listen(0, 'localhost', resolve));
const polled = { seeds: [did], plc: `http://localhost:${withoutStream.address().port}` };
const streamed = { seeds: [did], plc: plc.url };

/** Calls a method of the PDS that hosts the account of the labeler. The request and the response may have no body. */
async function callPds(method, body, token) {
  const headers = {
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  const url = `${network.pds.url}/xrpc/com.atproto.${method}`;
  const response = await fetch(url, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text === '' ? null : JSON.parse(text);
}

// Delete the labeler's record, so that only its document in the directory states that it is a labeler.
const record = { repo: did, collection: 'app.bsky.labeler.service', rkey: 'self' };
const login = { identifier: 'mod-authority.test', password: 'hunter2' };
const { accessJwt } = await callPds('server.createSession', login);
await callPds('repo.deleteRecord', record, accessJwt);
const get = `${network.pds.url}/xrpc/com.atproto.repo.getRecord?${new URLSearchParams(record)}`;
assert.equal((await (await fetch(get)).json()).error, 'RecordNotFound');

let byStream = await startStation(streamed);
const byPoll = await startStation(polled);
const established = async ({ overview }) => (await overview()).coverage.sources.established === 1;
await until('both sources are established', async () => (await established(byStream)) && (await established(byPoll)));

/**
 * Time from which gaps count. A start that takes more than five seconds, as on a busy machine, causes an earlier gap.
 */
const observedFrom = micros(Date.now() * 1000);

for (const { store } of [byStream, byPoll]) assert.deepEqual(await store.definitions(did), []);
passed('a labeler without a record is read, by stream and by poll');

const seeds = network.getSeedClient();
await seeds.createAccount('alice', { email: 'alice@test.com', handle: 'alice.test', password: 'alice-pass' });
const account = seeds.dids.alice;
const emitted = [];

/** Emits one event. Resolves once Ozone serves the resulting label. */
async function emit(event) {
  const subject = { $type: 'com.atproto.admin.defs#repoRef', did: account };
  await ozone
    .getModClient()
    .emitEvent({ event: { $type: label, createLabelVals: [], negateLabelVals: [], ...event }, subject });
  const { labels } = await (await fetch(pages)).json();
  emitted.push(published(labels.at(-1)));
}

const published = ({ uri, val, neg = false, cts, exp = null }) => ({ uri, val, neg, cts, exp });

async function rowsOf({ store }) {
  const { startedAt: start } = await store.epoch();
  const span = { start, end: micros(Date.now() * 1000 + 60_000_000) };
  return (await store.readAccount({ account, ...span, order: 'oldest', after: null, limit: 500 })).rows;
}

async function stored(station) {
  const rows = await rowsOf(station);
  assert.deepEqual([...new Set(rows.map(({ signature }) => signature))], rows.length > 0 ? ['verified'] : []);
  return rows.map((row) => published(row.label));
}

async function gaps({ store }) {
  const found = await store.gaps({ start: observedFrom, end: micros(Date.now() * 1000 + 60_000_000) });
  return found.map(({ source, reason }) => `${source === null ? 'ours' : 'theirs'} ${reason}`);
}

async function bothHave() {
  for (const station of [byStream, byPoll])
    await until(`${emitted.length} labels`, async () => (await stored(station)).length === emitted.length);
}

function passed(what) {
  process.stdout.write(`ok  ${what}\n`);
}

await emit({ createLabelVals: ['spam'] });
await bothHave();
await emit({ negateLabelVals: ['spam'] });
await bothHave();
await emit({ createLabelVals: ['spam'] });
await bothHave();
await emit({ createLabelVals: ['rude'], durationInHours: 1 });
await bothHave();
assert.notEqual(emitted.at(-1).exp, null);
assert.deepEqual(await stored(byStream), emitted);
assert.deepEqual(await stored(byPoll), emitted);
passed('labels that are applied, negated, applied again or expire are verified, by stream and by poll');
for (const station of [byStream, byPoll]) assert.deepEqual(await gaps(station), []);
passed('rows that Ozone replaced cause no gap');

await byStream.stop();
await emit({ createLabelVals: ['late'] });
byStream = await startStation(streamed, { folder: byStream.folder });
await bothHave();
assert.deepEqual(await stored(byStream), emitted);
assert.deepEqual(await gaps(byStream), ['ours ingest_paused']);
passed(
  'reading resumes from the cursor after a restart without loss or repetition, and the downtime is recorded as a gap',
);

await byStream.stop();
await ozone.ctx.db.db.deleteFrom('label').execute();
byStream = await startStation(streamed, { folder: byStream.folder });
await until('the reset is recorded', async () => (await gaps(byStream)).includes('theirs cursor_reset'));
assert.ok((byStream.quirks.get('future_cursor') ?? 0) + (byStream.quirks.get('tail_missing') ?? 0) > 0);
await emit({ createLabelVals: ['afterwards'] });
await until('reading continues', async () => (await stored(byStream)).length === emitted.length);
assert.deepEqual(await stored(byStream), emitted);
passed(
  `an emptied database is detected (quirks: ${[...byStream.quirks.keys()].join(', ')}), a gap is recorded, and reading continues`,
);
const resetsByPoll = async () => (await gaps(byPoll)).filter((gap) => gap === 'theirs cursor_reset').length;
await until('the polling instrument has recorded the reset', async () => (await resetsByPoll()) === 1);
await bothHave();
assert.deepEqual(await stored(byPoll), emitted);
passed('an emptied database is detected by poll');

// Wait for two further requests: the first one may check the last row, and the second one begins a new round, so the
// instrument has recorded that it caught up. Otherwise the second reset would extend the gap of the first reset.
const requestsBefore = pageRequests;
await until('the polls have caught up after the reset', () => pageRequests >= requestsBefore + 2);
const emptied = Promise.withResolvers();
held = emptied.promise;
await ozone.ctx.db.db.deleteFrom('label').execute();
await emit({ createLabelVals: ['again'] });
emptied.resolve();
await until('the polling instrument has recorded the second reset', async () => (await resetsByPoll()) === 2);
await bothHave();
for (const station of [byStream, byPoll]) assert.deepEqual(await stored(station), emitted);
assert.deepEqual(await gaps(byPoll), ['theirs cursor_reset', 'theirs cursor_reset']);
passed('an emptied database is detected by poll even if it already contains a new label');

// Register a new key in the directory while Ozone keeps signing with the old key, as if every label had been signed
// before the change.
const before = await startStation(streamed);
await until('an instrument with the first key is established', () => established(before));
await emit({ createLabelVals: ['signed-before'] });
await until('the label with the first key is stored', async () => (await rowsOf(before)).length === 1);
const directory = plc.getClient();
const rotationKey = network.pds.ctx.plcRotationKey;
const nextKey = await Secp256k1Keypair.create();
await directory.updateData(did, rotationKey, (data) => ({
  ...data,
  verificationMethods: { ...data.verificationMethods, atproto_label: nextKey.did() },
}));
await before.stop();
await (async () => {
  // Restart the instrument. Its rows remain, but it knows only the new key and the keys in the directory's log.
  const after = await startStation(streamed, { folder: before.folder });
  await until('an instrument after the rotation is established', () => established(after));
  await emit({ createLabelVals: ['signed-by-the-earlier-key'] });
  await until('both labels are stored', async () => (await rowsOf(after)).length === 2);
  assert.deepEqual(
    (await rowsOf(after)).map(({ label, signature }) => [label.val, signature]),
    [
      ['signed-before', 'verified'],
      ['signed-by-the-earlier-key', 'verified_earlier_key'],
    ],
  );
  await after.stop();
  removeStation(after);
})();
passed(
  'a label signed with a replaced key gets the verdict verified_earlier_key within five minutes after the key was replaced',
);

// Register another endpoint in the DID document, and close the old endpoint.
const relay = await startTcpRelay(Number(new URL(ozone.url).port));
const point = (endpoint) =>
  directory.updateData(did, rotationKey, (data) => ({
    ...data,
    services: { ...data.services, atproto_labeler: { type: 'AtprotoLabeler', endpoint } },
  }));
await point(relay.url);
const mover = await startStation(streamed);
await until('the labeler is established at its first endpoint', () => established(mover));
await emit({ createLabelVals: ['at-the-first'] });
await until('the label at the first endpoint is stored', async () => (await rowsOf(mover)).length === 1);
await point(ozone.url);
relay.close();
await emit({ createLabelVals: ['at-the-second'] });
await until('the label at the second endpoint is stored', async () => (await rowsOf(mover)).length === 2);
assert.deepEqual(
  (await rowsOf(mover)).map(({ label }) => label.val),
  ['at-the-first', 'at-the-second'],
);
const endpoint = async () => (await mover.store.roster()).find((row) => row.did === did)?.endpoint;
await until('the roster has the second endpoint', async () => (await endpoint()) === ozone.url);
passed('after the endpoint moved, reading continues at the endpoint in the document without loss or repetition');

for (const station of [byStream, byPoll, mover]) {
  await station.stop();
  removeStation(station);
}
await observeIdentityEvents({ network, did, record, callPds, accessJwt, emit, rowsOf, established, passed });
await network.close();
withoutStream.close();
