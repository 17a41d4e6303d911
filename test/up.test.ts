import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSim, type Sim } from '../sim/index.ts';
import { type Almanac, startAlmanac } from './support/almanac.ts';

/** The observatory as one command: processes of their own, each started again when it dies. */

let folder = '';
let observatory: Almanac | null = null;
let sim: Sim | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-up-'));
});
afterEach(async () => {
  await observatory?.stop();
  await sim?.stop();
  observatory = null;
  sim = null;
  rmSync(folder, { recursive: true, force: true });
});

/** Process ids of the parts, by the name of their command. */
function parts(of: Almanac): Map<string, number> {
  const { pid = 0 } = of.process;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return new Map(
    children.flatMap((child) => {
      const words = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      const name = words[words.findIndex((word) => word.endsWith('almanac.mjs')) + 1];
      return name ? [[name, Number(child)]] : [];
    }),
  );
}

async function get(of: Almanac, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(of.url + path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const patient = { timeout: 30_000, interval: 50 };

describe('almanac up', () => {
  it('observes and publishes, starts again what dies, and stops whole', async () => {
    sim = createSim({ seed: 7, rate: 200, historyHours: 1, labelers: 4, labelRate: 20 });
    const { jetstream, plc, relays, seeds } = await sim.start();
    observatory = await startAlmanac(['up', '--data', folder, '--port', '0', '--account-port', '0'], {
      ALMANAC_JETSTREAM: jetstream,
      ALMANAC_ALLOW_LOOPBACK: 'true',
      ALMANAC_PLC: plc ?? '',
      ALMANAC_RELAY: relays.join(','),
      ALMANAC_SEEDS: seeds ?? '',
      ALMANAC_PUBLISH_SECONDS: '1',
    });
    const running = observatory;

    await vi.waitFor(async () => {
      const { status, body } = await get(running, '/v1/weather/metrics');
      expect([status, body.contract]).toEqual([200, 'atproto.facts.weather.metrics/v1']);
    }, patient);

    await vi.waitFor(async () => {
      const { status, body } = await get(running, '/v1/labels/overview');
      expect([status, body.freshness]).toMatchObject([200, { state: 'warming_up' }]);
      expect(body.facts).toMatchObject({ current_label_state: 'unknown', coverage: { sources: { enrolled: 4 } } });
    }, patient);

    const before = parts(running);
    expect([...before.keys()].sort()).toEqual(['account', 'facts', 'labels', 'weather']);
    process.kill(before.get('weather') ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(parts(running).get('weather')).not.toBe(before.get('weather') ?? 0), patient);
    await vi.waitFor(() => expect(parts(running).has('weather')).toBe(true), patient);
    expect(running.log.filter(({ msg }) => msg === 'a part died and is started again')).toMatchObject([
      { part: 'weather', signal: 'SIGKILL' },
    ]);
    expect(parts(running).get('facts')).toBe(before.get('facts'));

    const pids = [...parts(running).values()];
    expect(await running.stop()).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
  });

  it('leaves no part behind when it is killed outright', async () => {
    observatory = await startAlmanac(['demo', '--data', folder, '--port', '0']);
    const pids = [...parts(observatory).values()];
    expect(pids).toHaveLength(1);
    observatory.process.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patient);
  });

  it('says why when a part cannot start, and ends', async () => {
    observatory = await startAlmanac(['demo', '--data', folder, '--port', '0']);
    const { port } = new URL(observatory.url);
    const second = startAlmanac(['demo', '--data', join(folder, 'second'), '--port', port]);
    await expect(second).rejects.toThrow(/the port is in use/);
  });
});

describe('almanac demo', () => {
  it('serves samples that are young, and say that they are samples', async () => {
    observatory = await startAlmanac(['demo', '--data', folder, '--port', '0']);
    for (const path of ['/v1/labels/overview', '/v1/weather/conditions', '/v1/weather/metrics']) {
      const { status, body } = await get(observatory, path);
      expect(status).toBe(200);
      expect(body.age_seconds).toBeLessThan(60);
      expect(body).toMatchObject({
        provenance: { origin: 'sample' },
        caveats: expect.arrayContaining([expect.stringMatching(/bundled sample/)]),
      });
    }
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
