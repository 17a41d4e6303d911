import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../harness/process/until.ts';
import {
  type LabelSim,
  labelsOf,
  queryLabels,
  readAll,
  startLabelSim,
  startMs,
  subscribeLabels,
} from '../../harness/sim/label-consumer.ts';
import { faultyKinds } from '../../sim/labelers/faulty-answers.ts';
import { oddKinds } from '../../sim/labelers/odd-labels.ts';

const epochUs = startMs * 1000;
let running: LabelSim | null = null;

async function start(...args: Parameters<typeof startLabelSim>): Promise<LabelSim> {
  running = await startLabelSim(...args);
  return running;
}

afterEach(async () => {
  await running?.sim.stop();
  running = null;
});

const page = (endpoint: string, init: RequestInit = {}) =>
  fetch(`${endpoint}/xrpc/com.atproto.label.queryLabels?uriPatterns=*`, { redirect: 'manual', ...init });

describe('odd labels', () => {
  it.each(oddKinds)('are emitted immediately, served, and classified in the record (%s)', async (kind) => {
    const { sim, pass, skyware } = await start();
    const consumer = await subscribeLabels(skyware.endpoint);
    pass(1);
    skyware.faults.emit(1);
    const { fromN } = skyware.faults.labels(kind, { count: 4, bytes: 100_000 });
    sim.pump();
    await consumer.received(5);
    await until('the third label is served', () => skyware.served.has((fromN ?? 0) + 3));
    const { accepted, refused } = sim.labelers.truth.expected({ epochUs });
    const refusing = {
      huge: 'oversized',
      foreign: kind,
      malformed: kind,
      oversized: kind,
      space_uri: kind,
      undated: kind,
    };
    const dated = { pre_epoch: kind, late: 'pre_epoch', future: kind, duplicate: kind };
    const reason = ({ ...refusing, ...dated } as Record<string, string>)[kind];
    const emitted = skyware.edge - skyware.log.pace.edge(epochUs);
    expect(Object.entries(refused).filter(([, count]) => count > 0)).toEqual(reason === undefined ? [] : [[reason, 4]]);
    expect(accepted).toBe(reason === undefined ? emitted : emitted - 4);
    expect(skyware.faults.fired.get(kind)).toBe(1);
    await consumer.close();
  });

  it('are refused as late instead of pre_epoch if the epoch began before their dates', async () => {
    const { sim, skyware, ozone } = await start();
    skyware.faults.labels('late', { count: 3 });
    ozone.faults.setRate(0);
    const long = epochUs - 100 * 86_400_000_000;
    const { refused } = sim.labelers.truth.expected({ epochUs: long, fromUs: epochUs, which: 'emitted' });
    expect(refused).toMatchObject({ late: 3, pre_epoch: 0 });
  });
});

const json = 'application/json; charset=utf-8';
const looks: Readonly<Record<string, readonly [number, string | null, boolean]>> = {
  status: [403, json, true],
  redirect: [302, null, false],
  html: [200, 'text/html; charset=utf-8', false],
  broken_json: [200, json, false],
  wrong_shape: [200, json, true],
  zip_bomb: [200, json, false],
};

describe('faulty responses', () => {
  it.each(faultyKinds.filter((kind) => !['endless', 'drip', 'hang', 'reset'].includes(kind)))(
    'replace a page the given number of times, and are counted (%s)',
    async (kind) => {
      const { ozone } = await start();
      const answer =
        kind === 'status'
          ? { kind, status: 403 }
          : kind === 'redirect'
            ? { kind, to: 'http://127.0.0.1:1/' }
            : { kind };
      ozone.faults.answer(answer as Parameters<typeof ozone.faults.answer>[0], { on: 'query', times: 1 });
      const odd = await page(ozone.endpoint, { headers: { 'Accept-Encoding': 'identity' } });
      const [status, type] = [odd.status, odd.headers.get('content-type')];
      const text = kind === 'zip_bomb' ? '' : await odd.text();
      await odd.body?.cancel().catch(() => undefined);
      expect([status, type, isJson(text)]).toEqual(looks[kind]);
      expect((await page(ozone.endpoint)).status).toBe(200);
      expect(ozone.faults.fired.get('query_answer')).toBe(1);
    },
  );

  it.each(['endless', 'hang', 'drip'] as const)('do not end until the client disconnects (%s)', async (kind) => {
    const { ozone } = await start();
    ozone.faults.answer(kind === 'drip' ? { kind, bytesPerSecond: 50 } : { kind }, { on: 'query' });
    const stop = new AbortController();
    const answered = page(ozone.endpoint, { signal: stop.signal }).then((answer) => answer.text());
    // Wait for the request, because the next step requires that it has arrived.
    await until('the fault has fired', () => ozone.faults.fired.get('query_answer') === 1);
    setTimeout(() => stop.abort(new Error('given up')), 300);
    await expect(answered).rejects.toThrow('given up');
    expect(ozone.faults.fired.get('query_answer')).toBe(1);
  });

  it('can refuse a handshake with a status while pages are still served', async () => {
    const { ozone } = await start();
    ozone.faults.answer({ kind: 'status', status: 501 }, { on: 'stream' });
    await expect(subscribeLabels(ozone.endpoint)).rejects.toThrow('501');
    expect((await page(ozone.endpoint)).status).toBe(200);
    expect(ozone.faults.fired.get('stream_answer')).toBe(1);
  });
});

describe('faulty pages', () => {
  it('contain the newest labels, and offer no way to continue, if they have no cursor', async () => {
    const { skyware } = await start();
    skyware.faults.withoutCursor();
    const { body } = await queryLabels(skyware.endpoint, { limit: '5' });
    expect([body.labels.length, body.cursor]).toEqual([5, undefined]);
    expect(skyware.faults.fired.get('no_cursor')).toBe(1);
  });

  it('differ between two equal requests if they are unordered, so that a reader that follows their cursor misses labels', async () => {
    const { ozone } = await start();
    const all = await readAll(ozone.endpoint);
    ozone.faults.withoutOrder();
    const one = await queryLabels(ozone.endpoint);
    expect((await queryLabels(ozone.endpoint)).body).not.toEqual(one.body);
    const met = new Set((await readAll(ozone.endpoint, 20)).map(({ uri, cts }) => `${uri} ${cts}`));
    expect(met.size).toBeLessThan(all.length);
    expect(ozone.faults.fired.get('unordered')).toBeGreaterThan(2);
  });
});

describe('slow responses', () => {
  it('include delayed pages and half-open streams without pongs', async () => {
    const { ozone } = await start();
    ozone.faults.delayed(50);
    const before = performance.now();
    await queryLabels(ozone.endpoint);
    expect(performance.now() - before).toBeGreaterThanOrEqual(49);
    const consumer = await subscribeLabels(ozone.endpoint);
    let pongs = 0;
    consumer.socket.on('pong', () => {
      pongs += 1;
    });
    consumer.socket.ping();
    await until('the first pong', () => pongs === 1);
    ozone.faults.halfOpen();
    consumer.socket.ping();
    await queryLabels(ozone.endpoint);
    expect(pongs).toBe(1);
    ozone.faults.resume();
    await until('the second pong', () => pongs === 2);
    expect([...ozone.faults.fired.keys()]).toEqual(['delay', 'half_open']);
    await consumer.close();
  });
});

describe('faults of databases and hosts', () => {
  it('include a recreated database, which ends streams, restarts seq at 1, and turns an old cursor into a future one', async () => {
    const { skyware, sim } = await start();
    const consumer = await subscribeLabels(skyware.endpoint);
    const old = skyware.edge;
    skyware.faults.recreate();
    expect(await consumer.closed).toBe(1006);
    expect(await readAll(skyware.endpoint)).toEqual([]);
    skyware.faults.emit(2);
    const again = await subscribeLabels(skyware.endpoint, 0);
    await again.received(2);
    expect(labelsOf(again.frames).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await (await subscribeLabels(skyware.endpoint, old)).closed).toBe(1006);
    await again.close();
    expect(skyware.faults.fired.get('recreate')).toBe(1);
    expect([...sim.labelers.truth.emitted(0, undefined, skyware.did)].length).toBe(old + 2);
  });

  it('include a lost tail, after which the last seq numbers are assigned again to other labels', async () => {
    const { skyware } = await start();
    const before = await readAll(skyware.endpoint);
    skyware.faults.loseTail(3);
    skyware.faults.emit(3);
    const after = await readAll(skyware.endpoint);
    expect(after.slice(0, -3)).toEqual(before.slice(0, -3));
    expect(after.slice(-3)).not.toEqual(before.slice(-3));
    expect(skyware.database.newestSeq(skyware.edge)).toBe(before.length);
  });

  it('include a temporary outage, after which the labeler listens on its port again and still has its labels', async () => {
    const { ozone, pass } = await start();
    const { endpoint } = ozone;
    await ozone.faults.dead({ seconds: 60 });
    await expect(page(endpoint)).rejects.toThrow();
    pass(61);
    await until('the labeler listens again', () => ozone.listening);
    expect((await page(endpoint)).status).toBe(200);
    expect(ozone.endpoint).toBe(endpoint);
    expect(ozone.faults.fired.get('dead')).toBe(1);
  });

  it('include a move, after which the old origin is dead and the directory returns the new one', async () => {
    const { ozone, sim } = await start();
    const { endpoint } = ozone;
    await ozone.faults.move();
    await expect(page(endpoint)).rejects.toThrow();
    expect(JSON.stringify(await sim.labelers.directory.document(ozone.did))).toContain(ozone.endpoint);
    expect((await page(ozone.endpoint)).status).toBe(200);
  });
});

describe('faults of streams', () => {
  it('include dropped and silent streams, malformed frames, and several labels in a frame', async () => {
    const { ozone, sim } = await start();
    const dropped = await subscribeLabels(ozone.endpoint);
    ozone.faults.drop();
    expect(await dropped.closed).toBe(1006);
    const consumer = await subscribeLabels(ozone.endpoint);
    ozone.faults.garbage(['no cbor', 'unknown type']);
    await consumer.received(2);
    ozone.faults.silence();
    ozone.faults.several(3);
    ozone.faults.emit(5);
    sim.pump();
    ozone.faults.resume();
    sim.pump();
    await consumer.received(4);
    expect(consumer.frames.map(({ body }) => body.labels?.length)).toEqual([undefined, undefined, 3, 2]);
    await consumer.close();
    expect([...ozone.faults.fired.keys()]).toEqual(['drop', 'garbage', 'silence', 'several_per_frame']);
  });

  it.each([
    ['future', 'FutureCursor'],
    ['too_slow', 'ConsumerTooSlow'],
    ['outdated', 'OutdatedCursor'],
  ] as const)('include an error response to a cursor (%s)', async (condition, name) => {
    const { ozone } = await start();
    ozone.faults.nextCursor(condition);
    const consumer = await subscribeLabels(ozone.endpoint, ozone.edge);
    await consumer.received(1);
    expect(consumer.frames[0]?.body).toMatchObject(condition === 'outdated' ? { name } : { error: name });
    await consumer.close();
  });

  it('include labels that are missing between replay and live traffic', async () => {
    const { skyware } = await start();
    skyware.faults.missAtCutover(4);
    skyware.faults.emit(10);
    const consumer = await subscribeLabels(skyware.endpoint, skyware.edge - 10);
    await consumer.received(6);
    expect(skyware.faults.fired.get('miss_at_cutover')).toBe(1);
    await consumer.close();
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
