/**
 * The real label instrument observes the real Ozone, by stream and by poll: `npm run test:ozone`. Everything that Ozone
 * emits is read from its own pages as it comes, and compared with what was accepted.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { TestNetwork } from '@atproto/dev-env';
import { micros } from '../../src/store/time.ts';
import { removeStation, startStation, until } from '../support/label-station.ts';

const label = 'tools.ozone.moderation.defs#modEventLabel';
const network = await TestNetwork.create({ dbPostgresSchema: 'almanac' });
const { ozone, plc } = network;
const did = ozone.ctx.cfg.service.did;
const pages = `${ozone.url}/xrpc/com.atproto.label.queryLabels?uriPatterns=*&limit=250`;

/** What requests for pages wait for. */
let held = Promise.resolve();

/** The directory and the labeler as they are to one who can only poll. */
const withoutStream = createServer((request, response) => {
  void (async () => {
    const { port } = withoutStream.address();
    if (request.url.startsWith('/did:plc:')) {
      const text = await (await fetch(`${plc.url}${request.url}`)).text();
      response
        .setHeader('Content-Type', 'application/json')
        .end(text.replaceAll(ozone.url, `http://localhost:${port}`));
    } else if (request.url.includes('queryLabels')) {
      await held;
      const answer = await fetch(`${ozone.url}${request.url}`);
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
    } else response.writeHead(501).end();
  })();
});
await new Promise((resolve) => withoutStream.listen(0, 'localhost', resolve));
const polled = { seeds: [did], plc: `http://localhost:${withoutStream.address().port}` };
const streamed = { seeds: [did], plc: plc.url };

let byStream = await startStation(streamed);
const byPoll = await startStation(polled);
const established = async ({ overview }) => (await overview()).coverage.sources.established === 1;
await until('both are read', async () => (await established(byStream)) && (await established(byPoll)));

const seeds = network.getSeedClient();
await seeds.createAccount('alice', { email: 'alice@test.com', handle: 'alice.test', password: 'alice-pass' });
const account = seeds.dids.alice;
const emitted = [];

/** One event; resolves once Ozone shows the label that came of it. */
async function emit(event) {
  const subject = { $type: 'com.atproto.admin.defs#repoRef', did: account };
  await ozone
    .getModClient()
    .emitEvent({ event: { $type: label, createLabelVals: [], negateLabelVals: [], ...event }, subject });
  const { labels } = await (await fetch(pages)).json();
  emitted.push(told(labels.at(-1)));
}

const told = ({ uri, val, neg = false, cts, exp = null }) => ({ uri, val, neg, cts, exp });

async function stored({ store }) {
  const { startedAt: start } = await store.epoch();
  const span = { start, end: micros(Date.now() * 1000 + 60_000_000) };
  const { rows } = await store.readAccount({ account, ...span, order: 'oldest', after: null, limit: 500 });
  assert.deepEqual([...new Set(rows.map(({ signature }) => signature))], rows.length > 0 ? ['verified'] : []);
  return rows.map((row) => told(row.label));
}

async function gaps({ store }) {
  const { startedAt: start } = await store.epoch();
  const found = await store.gaps({ start, end: micros(Date.now() * 1000 + 60_000_000) });
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
passed('applied, negated, applied again, and with an end: by stream and by poll, verified');
for (const station of [byStream, byPoll]) assert.deepEqual(await gaps(station), []);
passed('rows that Ozone replaced are no gap');

await byStream.stop();
await emit({ createLabelVals: ['late'] });
byStream = await startStation(streamed, { folder: byStream.folder });
await bothHave();
assert.deepEqual(await stored(byStream), emitted);
assert.deepEqual(await gaps(byStream), ['ours ingest_paused']);
passed('read on from the cursor after a restart: nothing lost, nothing twice, and the time in between is a gap');

await byStream.stop();
await ozone.ctx.db.db.deleteFrom('label').execute();
byStream = await startStation(streamed, { folder: byStream.folder });
await until('the reset', async () => (await gaps(byStream)).includes('theirs cursor_reset'));
assert.ok((byStream.quirks.get('future_cursor') ?? 0) + (byStream.quirks.get('tail_missing') ?? 0) > 0);
await emit({ createLabelVals: ['afterwards'] });
await until('it goes on', async () => (await stored(byStream)).length === emitted.length);
assert.deepEqual(await stored(byStream), emitted);
passed(`a database that was emptied: ${[...byStream.quirks.keys()].join(', ')}; a gap, and reading goes on`);
const resetsByPoll = async () => (await gaps(byPoll)).filter((gap) => gap === 'theirs cursor_reset').length;
await until('the reset, by poll', async () => (await resetsByPoll()) === 1);
await bothHave();
assert.deepEqual(await stored(byPoll), emitted);
passed('the same by a poll that may have met it empty');

const emptied = Promise.withResolvers();
held = emptied.promise;
await ozone.ctx.db.db.deleteFrom('label').execute();
await emit({ createLabelVals: ['again'] });
emptied.resolve();
await until('the second reset, by poll', async () => (await resetsByPoll()) === 2);
await bothHave();
for (const station of [byStream, byPoll]) assert.deepEqual(await stored(station), emitted);
assert.deepEqual(await gaps(byPoll), ['theirs cursor_reset', 'theirs cursor_reset']);
passed('the same by a poll that met the next label first');

for (const station of [byStream, byPoll]) {
  await station.stop();
  removeStation(station);
}
await network.close();
withoutStream.close();
