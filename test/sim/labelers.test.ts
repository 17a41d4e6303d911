import { encode } from '@atcute/cbor';
import { parsePublicMultikey, verifySig } from '@atcute/crypto';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type LabelSim,
  labelsOf,
  queryLabels,
  type ReadLabel,
  readAll,
  signatureOf,
  startLabelSim,
  subscribeLabels,
} from '../../harness/sim/label-consumer.ts';

let running: LabelSim | null = null;

async function start(...args: Parameters<typeof startLabelSim>): Promise<LabelSim> {
  running = await startLabelSim(...args);
  return running;
}

afterEach(async () => {
  await running?.sim.stop();
  running = null;
});

async function keyOf(plc: string | null, did: string) {
  const document = (await (await fetch(`${plc}/${did}`)).json()) as {
    verificationMethod: { id: string; publicKeyMultibase: string }[];
  };
  const method = document.verificationMethod.find(({ id }) => id === `${did}#atproto_label`);
  return parsePublicMultikey(method?.publicKeyMultibase ?? '');
}

async function verified(labels: readonly ReadLabel[], key: Awaited<ReturnType<typeof keyOf>>): Promise<boolean[]> {
  return Promise.all(
    labels.map((label) => {
      const { sig: _, id: __, ...rest } = label;
      return verifySig(key, signatureOf(label), new Uint8Array(encode(rest)));
    }),
  );
}

describe('a simulated labeler', () => {
  it('has a document with its endpoint and the key that verifies its labels', async () => {
    const { addresses, ozone, skyware } = await start({
      shapeLabeler: ({ index }) => ({ curve: index === 0 ? 'k256' : 'p256' }),
    });
    for (const labeler of [ozone, skyware]) {
      const key = await keyOf(addresses.plc, labeler.did);
      const labels = await readAll(labeler.endpoint);
      expect(labels.length).toBeGreaterThan(500);
      expect(new Set(await verified(labels.slice(0, 100), key))).toEqual(new Set([true]));
    }
  });

  it('serves the same labels by stream and by page, with the same numbers', async () => {
    const { ozone, skyware } = await start();
    for (const { endpoint } of [ozone, skyware]) {
      const pages = await readAll(endpoint);
      const consumer = await subscribeLabels(endpoint, 0);
      await consumer.received(pages.length);
      const streamed = labelsOf(consumer.frames);
      const paged = pages.map(({ id: _, ...label }) => label);
      expect(JSON.parse(JSON.stringify(streamed.map(({ label }) => label)))).toEqual(paged);
      const numbers = pages.map(({ id }) => id).filter((id) => id !== undefined);
      expect([[], streamed.map(({ seq }) => seq)]).toContainEqual(numbers);
      const { body } = await queryLabels(endpoint, { limit: '10' });
      expect(body.cursor).toBe(String(streamed[9]?.seq));
      await consumer.close();
    }
  });

  it('sends only new labels, as the clock advances, to a consumer without a cursor', async () => {
    const { pass, skyware } = await start();
    const consumer = await subscribeLabels(skyware.endpoint);
    const before = skyware.edge;
    pass(60);
    await consumer.received(skyware.edge - before);
    expect(labelsOf(consumer.frames).map(({ seq }) => seq)).toEqual(
      Array.from({ length: skyware.edge - before }, (_, step) => before + 1 + step),
    );
    await consumer.close();
  });

  it('emits the same bytes for the same seed and other bytes for another seed', async () => {
    const read = async (seed: number) => {
      const { ozone, sim } = await startLabelSim({ seed });
      const { body } = await queryLabels(ozone.endpoint);
      await sim.stop();
      return body;
    };
    const [one, again, other] = [await read(3), await read(3), await read(4)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });
});

describe('a simulated Ozone', () => {
  it('keeps one label per subject and value, omits neg if it is false, and returns an empty page without a cursor', async () => {
    const { ozone } = await start();
    const labels = await readAll(ozone.endpoint);
    const things = labels.map(({ src, uri, cid, val }) => JSON.stringify([src, uri, cid, val]));
    expect(new Set(things).size).toBe(labels.length);
    expect(labels.length).toBeLessThan(ozone.edge);
    expect(new Set(labels.map(({ neg }) => neg))).toEqual(new Set([undefined, true]));
    expect(await queryLabels(ozone.endpoint, { cursor: String(ozone.edge) })).toEqual({
      status: 200,
      body: { labels: [] },
    });
  });

  it('refuses a future cursor with an error frame and close code 1008', async () => {
    const { ozone } = await start();
    const consumer = await subscribeLabels(ozone.endpoint, ozone.edge + 1);
    expect(await consumer.closed).toBe(1008);
    expect(consumer.frames).toEqual([
      { header: { op: -1 }, body: { error: 'FutureCursor', message: 'Cursor in the future.' } },
    ]);
  });

  it('signs all labels again with a new key', async () => {
    const { ozone, addresses } = await start();
    const before = await queryLabels(ozone.endpoint);
    ozone.faults.rotateKey();
    const after = await queryLabels(ozone.endpoint);
    const unsigned = ({ body }: typeof before) => body.labels.map(({ sig: _, ...rest }) => rest);
    expect(unsigned(after)).toEqual(unsigned(before));
    expect(after.body.labels[0]?.sig).not.toEqual(before.body.labels[0]?.sig);
    const key = await keyOf(addresses.plc, ozone.did);
    expect(new Set(await verified(after.body.labels, key))).toEqual(new Set([true]));
  });
});

describe('a simulated skyware labeler', () => {
  it('keeps every label, always includes neg, and returns an empty page with the cursor "0"', async () => {
    const { skyware } = await start();
    const labels = await readAll(skyware.endpoint);
    expect(labels.length).toBe(skyware.edge);
    expect(new Set(labels.map(({ neg }) => neg))).toEqual(new Set([false, true]));
    expect(await queryLabels(skyware.endpoint, { cursor: String(skyware.edge) })).toEqual({
      status: 200,
      body: { cursor: '0', labels: [] },
    });
  });

  it('terminates the connection after the error frame for a future cursor', async () => {
    const { skyware } = await start();
    const consumer = await subscribeLabels(skyware.endpoint, skyware.edge + 1);
    expect(await consumer.closed).toBe(1006);
  });

  it('keeps an injected fault for the next cursor while streams without a cursor are opened', async () => {
    const { skyware } = await start();
    skyware.faults.nextCursor('future');
    await subscribeLabels(skyware.endpoint);
    expect(skyware.faults.fired.get('future_cursor')).toBeUndefined();
    const resumed = await subscribeLabels(skyware.endpoint, 1);
    expect(await resumed.closed).toBe(1006);
    expect(skyware.faults.fired.get('future_cursor')).toBe(1);
  });

  it('keeps earlier signatures after its key changes', async () => {
    const { skyware } = await start();
    const before = await queryLabels(skyware.endpoint);
    skyware.faults.rotateKey();
    expect(await queryLabels(skyware.endpoint)).toEqual(before);
  });
});
