import { encode } from '@atcute/cbor';
import { parsePublicMultikey, verifySig } from '@atcute/crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimOptions } from '../../sim/index.ts';
import { labelsOf, queryLabels, type ReadLabel, signatureOf, subscribeLabels } from './label-consumer.ts';

const startMs = Date.UTC(2026, 6, 4);
let sim: Sim;

async function start(options: SimOptions = {}) {
  const clock = manualClock(startMs);
  sim = createSim({ seed: 7, rate: 10, historyHours: 1, labelers: 2, labelRate: 1, clock: clock.now, ...options });
  const addresses = await sim.start();
  const [ozone, skyware] = sim.labelers.list;
  if (!ozone || !skyware) throw new Error('two labelers were asked for');
  return { clock, addresses, ozone, skyware };
}

afterEach(() => sim.stop());

async function keyOf(plc: string | null, did: string) {
  const document = (await (await fetch(`${plc}/${did}`)).json()) as {
    verificationMethod: { id: string; publicKeyMultibase: string }[];
  };
  const method = document.verificationMethod.find(({ id }) => id === `${did}#atproto_label`);
  return parsePublicMultikey(method?.publicKeyMultibase ?? '');
}

async function verifies(label: ReadLabel, key: Awaited<ReturnType<typeof keyOf>>): Promise<boolean> {
  const { sig: _, ...rest } = label;
  return verifySig(key, signatureOf(label), new Uint8Array(encode(rest)));
}

/** Reads all pages. */
async function readAll(endpoint: string, limit = 250): Promise<ReadLabel[]> {
  const labels: ReadLabel[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await queryLabels(endpoint, { limit: String(limit), ...(cursor ? { cursor } : {}) });
    labels.push(...body.labels);
    if (body.labels.length === 0 || body.cursor === undefined) return labels;
    cursor = body.cursor;
  }
}

describe('a labeler', () => {
  it('has a document that names its endpoint and the key that its labels verify with', async () => {
    const { addresses, ozone, skyware } = await start({
      shapeLabeler: ({ index }) => ({ curve: index === 0 ? 'k256' : 'p256' }),
    });
    for (const labeler of [ozone, skyware]) {
      const key = await keyOf(addresses.plc, labeler.did);
      const labels = await readAll(labeler.endpoint);
      expect(labels.length).toBeGreaterThan(500);
      const checked = await Promise.all(labels.slice(0, 50).map((label) => verifies(label, key)));
      expect(checked).toEqual(checked.map(() => true));
    }
  });

  it('gives the same labels by stream and by page, under the same numbers', async () => {
    const { ozone, skyware } = await start();
    for (const { endpoint } of [ozone, skyware]) {
      const pages = await readAll(endpoint);
      const consumer = await subscribeLabels(endpoint, 0);
      await consumer.received(pages.length);
      const streamed = labelsOf(consumer.frames);
      expect(JSON.parse(JSON.stringify(streamed.map(({ label }) => label)))).toEqual(pages);
      const { body } = await queryLabels(endpoint, { limit: '10' });
      expect(body.cursor).toBe(String(streamed[9]?.seq));
      await consumer.close();
    }
  });

  it('sends what is new as the clock goes on, and nothing else without a cursor', async () => {
    const { clock, skyware } = await start();
    const consumer = await subscribeLabels(skyware.endpoint);
    const before = skyware.edge;
    clock.advance(60_000);
    sim.pump();
    await consumer.received(skyware.edge - before);
    expect(labelsOf(consumer.frames).map(({ seq }) => seq)).toEqual(
      Array.from({ length: skyware.edge - before }, (_, step) => before + 1 + step),
    );
  });
});
