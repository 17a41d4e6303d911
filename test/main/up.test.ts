import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { alive, partsOf } from '../../harness/process/process-tree.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { createSim, type Sim } from '../../sim/index.ts';

/** Tests the observatory as one command with separate processes. Each process is restarted when it exits. */

let folder = '';
let observatory: Server | null = null;
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

async function get(of: Server, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(of.url + path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Options for waiting longer than the maximum delay between two attempts, in milliseconds. */
const patient = { timeout: 120_000, interval: 50 };
const hostsLine =
  ({ stdout }: Server) =>
  () =>
    stdout.filter((line) => line.startsWith('hosts: '));
const deaths = ({ log }: Server) => log().filter(({ msg }) => msg === 'a component exited and is being restarted');

const names = ['account', 'facts', 'labels', 'weather'];

/** Settings that simulate a machine without a network, because no server listens on this port. */
const nowhere = {
  ALMANAC_JETSTREAM: 'ws://127.0.0.1:1/subscribe',
  ALMANAC_ALLOW_LOOPBACK: 'true',
  ALMANAC_PLC: 'http://127.0.0.1:1',
  ALMANAC_RELAY: 'http://127.0.0.1:1',
  ALMANAC_PUBLISH_SECONDS: '1',
};

function up(port = '0', env: Record<string, string> = nowhere): Promise<Server> {
  return startServer(['up', '--data', folder, '--port', port, '--account-port', '0'], env);
}

describe('almanac up', () => {
  it('observes and publishes, restarts parts that exit, and stops all parts together', async () => {
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
    await vi.waitFor(() => expect(running.stdout.join('\n')).toMatch(/^weather: \S+: connected/m), patient);

    const before = partsOf(running);
    expect([...before.keys()].sort()).toEqual(names);
    // The young generation of these processes is limited, because it would otherwise grow with the garbage from the
    // startup of the label instrument or from a flood of requests to the account view.
    for (const name of ['labels', 'account'])
      expect(readFileSync(`/proc/${before.get(name)}/cmdline`, 'utf8')).toContain('--max-semi-space-size=');
    const weather = before.get('weather');
    if (weather === undefined) throw new Error('the weather instrument is not running');
    process.kill(weather, 'SIGKILL');
    await vi.waitFor(() => expect(partsOf(running).get('weather')).not.toBe(weather), patient);
    await vi.waitFor(() => expect(partsOf(running).has('weather')).toBe(true), patient);
    // Poll the log file, because it is written independently of the exits of the processes.
    await vi.waitFor(() => expect(deaths(running)).toMatchObject([{ part: 'weather', signal: 'SIGKILL' }]), patient);
    expect(partsOf(running).get('facts')).toBe(before.get('facts'));
    await vi.waitFor(() => expect(running.stdout.join('\n')).toMatch(/weather running, restarted 1 time/), patient);

    const pids = [...partsOf(running).values()];
    expect(await running.stop()).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
    const said = running.log().map(({ name, msg }) => `${name}: ${msg}`);
    const [labels, weatherAt, facts] = [
      said.indexOf('labels: the label instrument stopped'),
      said.indexOf('weather: the weather instrument stopped'),
      said.indexOf('facts: stopped'),
    ];
    expect([labels, weatherAt]).not.toContain(-1);
    expect(facts).toBeGreaterThan(Math.max(labels, weatherAt));
  });

  it('reports that the network is unreachable, serves refusals, and keeps trying', async () => {
    observatory = await up();
    const running = observatory;
    await vi.waitFor(
      () =>
        expect(running.stdout).toContain(
          'network: cannot be reached: no connection to 127.0.0.1:1 (the host does not accept connections), ' +
            'and no labeler responds; trying again',
        ),
      patient,
    );
    const hosts = hostsLine(running);
    await vi.waitFor(() => expect(hosts()).toHaveLength(1), patient);
    expect(hosts()).toEqual([
      'hosts: tried 127.0.0.1:1 (jetstream), 127.0.0.1:1 (relay), 127.0.0.1:1 (directory): none of them responds; ' +
        '`almanac doctor` explains the causes and what to do',
    ]);
    const labels = await get(running, '/v1/labels/overview');
    expect([labels.status, labels.body.error]).toMatchObject([503, { code: 'source_unavailable' }]);
    const { status, body } = await get(running, '/v1/weather/conditions');
    expect([status, body.facts]).toMatchObject([
      200,
      { conditions: { state: 'station_offline' }, total_events: { total: null, mean_rate_per_s: null } },
    ]);
    const tries = () => running.log().filter(({ name, cause }) => name === 'weather' && cause === 'connect').length;
    const tried = tries();
    await vi.waitFor(() => expect(tries()).toBeGreaterThan(tried), patient);
    expect(deaths(running)).toEqual([]);
  });

  it('names the hosts that accept connections but never respond', async () => {
    const { port } = await listenForTest(createServer());
    const mute = `127.0.0.1:${port}`;
    observatory = await up('0', {
      ...nowhere,
      ALMANAC_JETSTREAM: `ws://${mute}/subscribe,ws://localhost:${port}`,
      ALMANAC_PLC: `http://${mute}`,
      ALMANAC_RELAY: `http://${mute}`,
    });
    const hosts = hostsLine(observatory);
    await vi.waitFor(() => expect(hosts()).toHaveLength(1), patient);
    expect(hosts()).toEqual([
      `hosts: tried ${mute} (jetstream), localhost:${port} (jetstream), ${mute} (relay), ${mute} (directory): ` +
        'none of them responds; `almanac doctor` explains the causes and what to do',
    ]);
    expect(observatory.stdout.join('\n')).toMatch(
      /^progress: conditions need 7 days of baseline: 0 of 7 days observed/m,
    );
  });

  it('exits on SIGTERM while a part does not start, and leaves no part running', async () => {
    // With this module, the label instrument never prints its line, and ignores SIGTERM.
    const stuck = `if (process.argv[2] === 'labels') {
      process.on('SIGTERM', () => undefined);
      process.on('disconnect', () => process.exit());
      await new Promise(() => setInterval(() => undefined, 1_000));
    }`;
    const env = { ...nowhere, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(stuck)}` };
    const program = startProgramInTest(['up', '--data', folder, '--port', '0', '--account-port', '0'], { env });
    await vi.waitFor(() => expect([...partsOf(program).keys()].sort()).toEqual(names), patient);
    await vi.waitFor(
      () => expect(program.log()).toContainEqual(expect.objectContaining({ msg: 'listening' })),
      patient,
    );
    const pids = [...partsOf(program).values()];
    expect(await program.stop()).toBe(0);
    expect([program.stdout, pids.filter(alive)]).toEqual([[], []]);
  });

  it('leaves no part running when it is killed', async () => {
    observatory = await up();
    const pids = [...partsOf(observatory).values()];
    expect(pids).toHaveLength(4);
    observatory.child.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patient);
  });

  it('reports why a part cannot start, and exits', async () => {
    observatory = await up();
    const { port } = new URL(observatory.url);
    const taken = startServer(['up', '--data', join(folder, 'second'), '--port', port, '--account-port', '0'], nowhere);
    await expect(taken).rejects.toThrow(/the port is in use/);
  });
});
