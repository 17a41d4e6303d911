import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secp256k1PrivateKeyExportable } from '@atcute/crypto';
import { LabelerServer } from '@skyware/labeler';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LabelStation, removeStation, startStation } from '../../../harness/labels/label-station.ts';
import { type Directory, startDirectory } from '../../../harness/net/directory.ts';
import { until } from '../../../harness/process/until.ts';
import { micros } from '../../../src/store/time.ts';

const did = 'did:plc:labelerlabelerlabelerlab';
const account = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const post = `at://${account}/app.bsky.feed.post/3kabc`;

let directory: Directory;
let folder: string;
let dbPath: string;
let key: Secp256k1PrivateKeyExportable;
let labeler: LabelerServer;
let endpoint: string;
let station: LabelStation | null = null;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-skyware-'));
});

beforeEach(async () => {
  directory = await startDirectory();
  dbPath = join(folder, `${performance.now()}.db`);
  key = await Secp256k1PrivateKeyExportable.createKeypair();
  await startLabeler();
  await register();
});

/** Starts the labeler over its database, at a new endpoint. */
async function startLabeler(): Promise<void> {
  labeler = new LabelerServer({ did, signingKey: await key.exportPrivateKey('rawHex'), dbPath });
  endpoint = await new Promise<string>((resolve, reject) =>
    labeler.start({ port: 0, host: '127.0.0.1' }, (error, address) => (error ? reject(error) : resolve(address))),
  );
}

/** Registers the labeler's key and an endpoint in the directory. */
async function register(at = endpoint): Promise<void> {
  const publicKeyMultibase = await key.exportPublicKey('multikey');
  directory.entries.set(`/${did}`, {
    document: {
      id: did,
      service: [{ id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: at }],
      verificationMethod: [{ id: `${did}#atproto_label`, type: 'Multikey', controller: did, publicKeyMultibase }],
    },
  });
}

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  station = null;
  await labeler.app.close();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns all stored rows of the account. */
async function stored({ store }: LabelStation) {
  const { startedAt } = await store.epoch();
  const query = { account, start: startedAt, end: micros(Date.now() * 1000 + 60_000_000), order: 'oldest' } as const;
  const { rows } = await store.readAccount({ ...query, after: null, limit: 500 });
  return rows.map(({ label: { uri, val, neg }, signature }) => ({ uri, val, neg, signature }));
}

describe('a real skyware labeler', () => {
  test('is observed through its stream, with all labels and removals verified and no label repeated after a restart', async () => {
    station = await startStation({ seeds: [did], plc: directory.url });
    const { overview } = station;
    await until('the labeler is established', async () => (await overview()).coverage.sources.established === 1);
    await labeler.createLabel({ uri: account, val: 'spam' });
    await labeler.createLabel({ uri: post, val: 'rude' });
    await labeler.createLabel({ uri: account, val: 'spam', neg: true });
    await until('the first labels are stored', async () => (await stored(station as LabelStation)).length === 3);
    await station.stop();
    // Create this label while no instrument is running.
    await labeler.createLabel({ uri: post, val: 'late' });
    station = await startStation({ seeds: [did], plc: directory.url }, { folder: station.folder });
    await until('the reading is resumed', async () => (await stored(station as LabelStation)).length >= 4);
    expect(await stored(station)).toEqual([
      { uri: account, val: 'spam', neg: false, signature: 'verified' },
      { uri: post, val: 'rude', neg: false, signature: 'verified' },
      { uri: account, val: 'spam', neg: true, signature: 'verified' },
      { uri: post, val: 'late', neg: false, signature: 'verified' },
    ]);
    await until('the count is published', async () => (await station?.overview())?.counts.events_window === 4);
    const { coverage, top_labelers_7d } = await station.overview();
    expect(coverage.gaps.map(({ reason }) => reason)).toEqual(['ingest_paused']);
    expect(top_labelers_7d).toEqual([{ labeler_did: did, count: 4 }]);
  });

  test('is observed through polls if its stream does not work', async () => {
    const polls = await withoutStream(endpoint);
    await register(polls.url);
    await labeler.createLabel({ uri: account, val: 'old', cts: '2019-01-01T00:00:00.000Z' });
    station = await startStation({ seeds: [did], plc: directory.url });
    await labeler.createLabel({ uri: account, val: 'spam' });
    await until('the first label is stored', async () => (await stored(station as LabelStation)).length === 1);
    await labeler.createLabel({ uri: post, val: 'rude' });
    await until('the second label is stored', async () => (await stored(station as LabelStation)).length === 2);
    await until('the count is published', async () => (await station?.overview())?.counts.events_window === 2);
    const { coverage } = await station.overview();
    expect(coverage.sources).toMatchObject({ enrolled: 1, established: 1, pre_epoch_skipped: 1 });
    expect(coverage.gaps).toEqual([]);
    await station.stop();
    removeStation(station);
    station = null;
    await polls.stop();
  });

  test('has new labels that verify with its new key after a rotation, and earlier labels that verify with the earlier key', async () => {
    station = await startStation({ seeds: [did], plc: directory.url });
    await labeler.createLabel({ uri: account, val: 'spam' });
    await until('the first label is stored', async () => (await stored(station as LabelStation)).length === 1);
    await station.stop();
    await labeler.createLabel({ uri: account, val: 'late' });
    await labeler.app.close();
    key = await Secp256k1PrivateKeyExportable.createKeypair();
    await startLabeler();
    await register();
    station = await startStation({ seeds: [did], plc: directory.url }, { folder: station.folder });
    await labeler.createLabel({ uri: account, val: 'rude' });
    await until('the later labels are stored', async () => (await stored(station as LabelStation)).length === 3);
    expect((await stored(station)).map(({ val, signature }) => [val, signature])).toEqual([
      ['spam', 'verified'],
      ['late', 'verified_earlier_key'],
      ['rude', 'verified'],
    ]);
  });

  test('continues to be read at its new endpoint after a move, without loss or repetition', async () => {
    station = await startStation({ seeds: [did], plc: directory.url });
    const { store, overview } = station;
    await until('the labeler is established', async () => (await overview()).coverage.sources.established === 1);
    await labeler.createLabel({ uri: account, val: 'spam' });
    await until('the first label is stored', async () => (await stored(station as LabelStation)).length === 1);
    await labeler.app.close();
    await startLabeler();
    await register();
    await labeler.createLabel({ uri: account, val: 'rude' });
    await until('the later label is stored', async () => (await stored(station as LabelStation)).length === 2);
    expect((await stored(station)).map(({ val, signature }) => [val, signature])).toEqual([
      ['spam', 'verified'],
      ['rude', 'verified'],
    ]);
    const known = async () => (await store.roster()).find((row) => row.did === did)?.endpoint;
    await until('the roster has the new endpoint', async () => (await known()) === endpoint);
    // The labeler has no record, so only its document in the directory names it.
    expect(await store.definitions(did)).toEqual([]);
  });

  test('is not reported as reset at every poll while it has no labels', async () => {
    const polls = await withoutStream(endpoint);
    await register(polls.url);
    station = await startStation({ seeds: [did], plc: directory.url });
    const { quirks } = station;
    await until('a few polls have ended', () => (quirks.get('zero_cursor') ?? 0) >= 4);
    await until('it is established', async () => (await station?.overview())?.coverage.sources.established === 1);
    expect((await station.overview()).coverage.gaps).toEqual([]);
    await station.stop();
    removeStation(station);
    station = null;
    await polls.stop();
  });
});

/** Starts a host in front of the labeler that forwards queries and does not support websockets. */
async function withoutStream(to: string) {
  const server = createServer((request, response) => {
    // Ignore errors, because either side may have closed the connection before the response.
    fetch(new URL(request.url ?? '/', to))
      .then(async (answer) => {
        response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
      })
      .catch(() => response.destroy());
  });
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
