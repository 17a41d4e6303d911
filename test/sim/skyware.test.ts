import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabelerServer } from '@skyware/labeler';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type LabelSim,
  labelsOf,
  queryLabels,
  startLabelSim,
  subscribeLabels,
} from '../../harness/sim/label-consumer.ts';

/** Compares the simulated labeler with the real program over the same labels. */
let simulated: LabelSim;
let real: LabelerServer;
let folder: string;
let endpoints: { readonly simulated: string; readonly real: string };

const count = 30;

beforeAll(async () => {
  simulated = await startLabelSim({ historyHours: 0 });
  const { skyware } = simulated;
  skyware.faults.emit(count);
  folder = await mkdtemp(join(tmpdir(), 'almanac-skyware-'));
  real = new LabelerServer({
    did: skyware.did as `did:${string}:${string}`,
    signingKey: '8b8a1c6e2f0d4b3a9c7e5d1f0a2b4c6d8e0f1a3b5c7d9e1f2a4b6c8d0e2f4a6b',
    dbPath: join(folder, 'labels.db'),
  });
  for (let n = 1; n <= count; n++) {
    const { src, uri, cid, val, neg, cts, exp } = skyware.log.label(n).label as Parameters<
      typeof real.createLabel
    >[0] & {
      src: `did:${string}:${string}`;
      cts: string;
    };
    await real.createLabel({
      src,
      uri,
      val,
      cts,
      ...(cid ? { cid } : {}),
      ...(neg ? { neg } : {}),
      ...(exp ? { exp } : {}),
    });
  }
  const address = await real.app.listen({ host: '127.0.0.1', port: 0 });
  endpoints = { simulated: skyware.endpoint, real: address };
});

afterAll(async () => {
  await simulated.sim.stop();
  await real.app.close();
  real.db.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Replaces each signature by the type of its value, because the signatures are created with different keys. All other
 * fields must be equal.
 */
function unsigned(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === 'sig' ? typeof member : member)));
}

it.each([
  ['the first page', {}],
  ['a page of seven labels', { limit: '7' }],
  ['the next page', { limit: '7', cursor: '7' }],
  ['an empty page', { cursor: String(count) }],
  ['a cursor beyond the end', { cursor: '99999' }],
  ['a cursor of zero', { cursor: '0', limit: '2' }],
  ['a limit of 251', { limit: '251' }],
  ['a negative limit', { limit: '-1' }],
  ['a cursor that is not a number', { cursor: 'abc' }],
  ['a star in the middle', { uriPatterns: 'at://*/x' }],
  ['only accounts', { uriPatterns: 'did:*' }],
  ['no pattern', { uriPatterns: '' }],
  ['a different source', { sources: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' }],
])('the simulated skyware labeler responds to a query as the real program does (%s)', async (_, params) => {
  const [mine, theirs] = [await queryLabels(endpoints.simulated, params), await queryLabels(endpoints.real, params)];
  expect(unsigned(mine)).toEqual(unsigned(theirs));
});

it.each([0, 12, count])('the simulated skyware labeler streams from cursor %i as a real one does', async (cursor) => {
  const read = async (endpoint: string) => {
    const consumer = await subscribeLabels(endpoint, cursor);
    await consumer.received(count - cursor);
    const labels = labelsOf(consumer.frames);
    await consumer.close();
    return { labels, headers: consumer.frames.map(({ header }) => header) };
  };
  expect(unsigned(await read(endpoints.simulated))).toEqual(unsigned(await read(endpoints.real)));
});

it('the simulated skyware labeler ends a stream with a future cursor as the real program does', async () => {
  const read = async (endpoint: string) => {
    const consumer = await subscribeLabels(endpoint, 99_999);
    return { code: await consumer.closed, frames: consumer.frames };
  };
  expect(await read(endpoints.simulated)).toEqual(await read(endpoints.real));
});

it('the simulated skyware labeler responds to other methods and health requests as the real program does', async () => {
  for (const path of ['/xrpc/com.atproto.label.unknown', '/xrpc/_health']) {
    const [mine, theirs] = await Promise.all(
      [endpoints.simulated, endpoints.real].map(async (endpoint) => {
        const answer = await fetch(`${endpoint}${path}`);
        return [answer.status, await answer.json()];
      }),
    );
    expect(mine).toEqual(theirs);
  }
});
