import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secp256k1PrivateKeyExportable } from '@atcute/crypto';
import { LabelerServer } from '@skyware/labeler';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LabelStation, removeStation, startStation } from '../../../harness/labels/label-station.ts';
import { type DidHost, startDidHost } from '../../../harness/net/did-host.ts';
import { until } from '../../../harness/process/until.ts';
import { micros } from '../../../src/store/time.ts';

const did = 'did:plc:labelerlabelerlabelerlab';
const account = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const post = `at://${account}/app.bsky.feed.post/3kabc`;

let directory: DidHost;
let folder: string;
let labeler: LabelerServer;
let endpoint: string;
let station: LabelStation | null = null;

beforeAll(async () => {
  directory = await startDidHost();
  folder = mkdtempSync(join(tmpdir(), 'almanac-skyware-'));
});

beforeEach(async () => {
  const key = await Secp256k1PrivateKeyExportable.createKeypair();
  labeler = new LabelerServer({
    did,
    signingKey: await key.exportPrivateKey('rawHex'),
    dbPath: join(folder, `${performance.now()}.db`),
  });
  endpoint = await new Promise<string>((resolve, reject) =>
    labeler.start({ port: 0, host: '127.0.0.1' }, (error, address) => (error ? reject(error) : resolve(address))),
  );
  directory.documents.set(did, { endpoint, publicKeyMultibase: await key.exportPublicKey('multikey') });
});

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  station = null;
  await labeler.app.close();
});

afterAll(async () => {
  await directory.stop();
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
  test('is observed through its stream, with applied and removed labels verified, and none repeated after a restart', async () => {
    station = await startStation({ seeds: [did], plc: directory.url });
    const { overview } = station;
    await until('established', async () => (await overview()).coverage.sources.established === 1);
    await labeler.createLabel({ uri: account, val: 'spam' });
    await labeler.createLabel({ uri: post, val: 'rude' });
    await labeler.createLabel({ uri: account, val: 'spam', neg: true });
    await until('stored', async () => (await stored(station as LabelStation)).length === 3);
    await station.stop();
    // Create this label while no instrument is running.
    await labeler.createLabel({ uri: post, val: 'late' });
    station = await startStation({ seeds: [did], plc: directory.url }, { folder: station.folder });
    await until('resumed', async () => (await stored(station as LabelStation)).length >= 4);
    expect(await stored(station)).toEqual([
      { uri: account, val: 'spam', neg: false, signature: 'verified' },
      { uri: post, val: 'rude', neg: false, signature: 'verified' },
      { uri: account, val: 'spam', neg: true, signature: 'verified' },
      { uri: post, val: 'late', neg: false, signature: 'verified' },
    ]);
    await until('published', async () => (await station?.overview())?.counts.events_window === 4);
    const { coverage, top_labelers_7d } = await station.overview();
    expect(coverage.gaps.map(({ reason }) => reason)).toEqual(['ingest_paused']);
    expect(top_labelers_7d).toEqual([{ labeler_did: did, count: 4 }]);
  });

  test('is observed through polls if its stream does not work', async () => {
    const polls = await withoutStream(endpoint);
    const known = directory.documents.get(did);
    directory.documents.set(did, { publicKeyMultibase: known?.publicKeyMultibase ?? '', endpoint: polls.url });
    await labeler.createLabel({ uri: account, val: 'old', cts: '2019-01-01T00:00:00.000Z' });
    station = await startStation({ seeds: [did], plc: directory.url });
    await labeler.createLabel({ uri: account, val: 'spam' });
    await until('the first', async () => (await stored(station as LabelStation)).length === 1);
    await labeler.createLabel({ uri: post, val: 'rude' });
    await until('the second', async () => (await stored(station as LabelStation)).length === 2);
    await until('published', async () => (await station?.overview())?.counts.events_window === 2);
    const { coverage } = await station.overview();
    expect(coverage.sources).toMatchObject({ enrolled: 1, established: 1, pre_epoch_skipped: 1 });
    expect(coverage.gaps).toEqual([]);
    await station.stop();
    removeStation(station);
    station = null;
    await polls.stop();
  });

  test('is not reported as reset at every poll while it has no labels', async () => {
    const polls = await withoutStream(endpoint);
    const known = directory.documents.get(did);
    directory.documents.set(did, { publicKeyMultibase: known?.publicKeyMultibase ?? '', endpoint: polls.url });
    station = await startStation({ seeds: [did], plc: directory.url });
    const { quirks } = station;
    await until('a few polls', () => (quirks.get('zero_cursor') ?? 0) >= 4);
    await until('established', async () => (await station?.overview())?.coverage.sources.established === 1);
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
