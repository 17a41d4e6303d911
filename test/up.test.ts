import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSim, type Sim } from '../sim/index.ts';
import { type Almanac, startAlmanac } from './support/almanac.ts';
import { alive, partsOf } from './support/parts.ts';

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

async function get(of: Almanac, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(of.url + path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Longer than the longest pause between two tries. */
const patient = { timeout: 60_000, interval: 50 };
const deaths = ({ log }: Almanac) => log.filter(({ msg }) => msg === 'a part died and is being restarted');

/** Nothing listens there: a machine without a network, as fast as it can be. */
const nowhere = {
  ALMANAC_JETSTREAM: 'ws://127.0.0.1:1/subscribe',
  ALMANAC_ALLOW_LOOPBACK: 'true',
  ALMANAC_PLC: 'http://127.0.0.1:1',
  ALMANAC_RELAY: 'http://127.0.0.1:1',
  ALMANAC_PUBLISH_SECONDS: '1',
};

function up(port = '0', env: Record<string, string> = nowhere): Promise<Almanac> {
  return startAlmanac(['up', '--data', folder, '--port', port, '--account-port', '0'], env);
}

describe('almanac up', { timeout: 240_000 }, () => {
  it('observes and publishes, starts again what dies, and stops whole', async () => {
    sim = createSim({ seed: 7, rate: 200, historyHours: 1, labelers: 4, labelRate: 20 });
    const { jetstream, plc, relays, seeds } = await sim.start();
    observatory = await up('0', {
      ...nowhere,
      ALMANAC_JETSTREAM: jetstream,
      ALMANAC_PLC: plc ?? '',
      ALMANAC_RELAY: relays.join(','),
      ALMANAC_SEEDS: seeds ?? '',
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
    await vi.waitFor(() => expect(running.lines.join('\n')).toMatch(/^weather: \S+: connected/m), patient);

    const before = partsOf(running);
    expect([...before.keys()].sort()).toEqual(['account', 'facts', 'labels', 'weather']);
    // What its start leaves behind is not kept room for.
    expect(readFileSync(`/proc/${before.get('labels')}/cmdline`, 'utf8')).toContain('--max-semi-space-size=');
    const weather = before.get('weather');
    if (weather === undefined) throw new Error('a part does not run');
    process.kill(weather, 'SIGKILL');
    await vi.waitFor(() => expect(partsOf(running).get('weather')).not.toBe(weather), patient);
    await vi.waitFor(() => expect(partsOf(running).has('weather')).toBe(true), patient);
    // The log comes by another way than the processes are seen.
    await vi.waitFor(() => expect(deaths(running)).toMatchObject([{ part: 'weather', signal: 'SIGKILL' }]), patient);
    expect(partsOf(running).get('facts')).toBe(before.get('facts'));
    await vi.waitFor(() => expect(running.lines.join('\n')).toMatch(/weather running, restarted 1 time/), patient);

    const pids = [...partsOf(running).values()];
    expect(await running.stop()).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
    const stopped = running.log.filter(({ msg }) => msg === 'stopped').map(({ name }) => name);
    expect(stopped.indexOf('facts')).toBeGreaterThan(stopped.indexOf('weather'));
    expect(stopped.indexOf('facts')).toBeGreaterThan(stopped.indexOf('labels'));
  });

  it('says in clear words that there is no way to the network, serves honest refusals, and keeps trying', async () => {
    observatory = await up();
    const running = observatory;
    await vi.waitFor(
      () =>
        expect(running.lines).toContain(
          'network: cannot be reached: no connection to 127.0.0.1:1 (the host does not accept connections), ' +
            'and no labeler answers; trying again',
        ),
      patient,
    );
    const labels = await get(running, '/v1/labels/overview');
    expect([labels.status, labels.body.error]).toMatchObject([503, { code: 'source_unavailable' }]);
    const { status, body } = await get(running, '/v1/weather/conditions');
    expect([status, body.facts]).toMatchObject([
      200,
      { conditions: { state: 'station_offline' }, total_events: { total: null, mean_rate_per_s: null } },
    ]);
    const tries = () => running.log.filter(({ name, cause }) => name === 'weather' && cause === 'connect').length;
    const tried = tries();
    await vi.waitFor(() => expect(tries()).toBeGreaterThan(tried), patient);
    expect(deaths(running)).toEqual([]);
  });

  it('leaves no part behind when it is killed outright', async () => {
    observatory = await up();
    const pids = [...partsOf(observatory).values()];
    expect(pids).toHaveLength(4);
    observatory.process.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patient);
  });

  it('says why when a part cannot start, and ends', async () => {
    observatory = await up();
    const { port } = new URL(observatory.url);
    const taken = startAlmanac(
      ['up', '--data', join(folder, 'second'), '--port', port, '--account-port', '0'],
      nowhere,
    );
    await expect(taken).rejects.toThrow(/the port is in use/);
  });
});
