import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { freePort } from '../../harness/net/ports.ts';
import { simulationClock } from '../../harness/process/clock-setting.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim, type SimAddresses } from '../../sim/index.ts';
import type { WeatherSummary } from '../../src/artifact/recognise.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { stateMigrations } from '../../src/store/sqlite/schema/state-schema.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';
import { weatherStoreVersion } from '../../src/weather/window/store-schema.ts';

/**
 * Tests the doctor as an operator runs it: the real program with a simulated network. Covers a set-up without errors,
 * and set-ups with one error each.
 */

interface Found {
  readonly check: string;
  readonly level: string;
  readonly found: string;
  readonly todo: string | null;
}

let sim: Sim;
let network: SimAddresses;
let data = '';
let port = 0;
let accountPort = 0;

beforeAll(async () => {
  sim = createSim({ seed: 3, rate: 200, historyHours: 1, labelers: 2, labelRate: 5 });
  network = await sim.start();
});
afterAll(() => sim.stop());
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'almanac-doctor-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  [port, accountPort] = [await freePort(), await freePort()];
});

function flags(of: SimAddresses = network): string[] {
  return [
    ['--data', data],
    ['--port', String(port)],
    ['--account-port', String(accountPort)],
    ['--jetstream', of.jetstream],
    ['--plc', of.plc ?? ''],
    ['--seeds', of.seeds ?? ''],
    ...of.relays.map((relay) => ['--relay', relay]),
    ['--allow-loopback'],
    ['--contact', 'ops@example.org'],
  ].flat();
}

/** Returns the environment of a doctor whose timers, and therefore its time limits, elapse ten times as fast. */
function hurried(): Readonly<Record<string, string>> {
  const clock = simulationClock(`${data}-clock.json`);
  onTestFinished(() => rmSync(`${data}-clock.json`));
  clock.run(10);
  return { ...clock.env, SCALED_TIMERS: '1' };
}

/** Returns the doctor's findings by the name of the check. */
async function doctor(args: readonly string[] = flags(), env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runProgram(['doctor', '--json', ...args], { env });
  expect(stderr).toEqual([]);
  const { verdict, findings } = JSON.parse(stdout.join('\n')) as { verdict: string; findings: Found[] };
  return {
    code,
    verdict,
    findings,
    of: (check: string) => findings.filter((finding) => finding.check === check),
    /** Findings whose level is not ok. */
    unwell: () => findings.filter(({ level }) => level !== 'ok').map(({ check, level }) => `${level} ${check}`),
  };
}

/** Creates the state after a clean stop: both stores and both artifacts. */
async function settle(): Promise<void> {
  const at = micros(Date.now() * 1000);
  const store = openSqliteWriter({ folder: join(data, 'labels'), at });
  await store.append({ at, observations: [], refusals: [], positions: [] });
  await store.beat(at);
  await store.close();
  const weather = new Database(join(data, 'weather.sqlite'));
  weather.exec('PRAGMA user_version = 1; CREATE TABLE series (id INTEGER)');
  weather.close();
  mkdirSync(join(data, 'artifacts'));
  put(artifactNames.labels, youngArtifact('recent'));
  put(artifactNames.weather, youngArtifact('weather'));
}

function put(name: string, content: object | string): void {
  writeFileSync(join(data, 'artifacts', name), typeof content === 'string' ? content : JSON.stringify(content));
}

/** Returns every file below the data directory, with its bytes. */
function everything(folder = data): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, statSync(path).isFile() ? readFileSync(path, 'base64') : 'folder']),
  );
}

describe('almanac doctor', () => {
  it('reports every check of a running observatory as ok, in one line each', async () => {
    const env = { ALMANAC_PUBLISH_SECONDS: '1', ALMANAC_LOG_LEVEL: 'silent' };
    const [streams, sources] = [
      ['--jetstream', network.jetstream, '--allow-loopback', '--artifacts', join(data, 'artifacts')],
      [
        '--plc',
        network.plc ?? '',
        '--seeds',
        network.seeds ?? '',
        ...network.relays.flatMap((relay) => ['--relay', relay]),
      ],
    ];
    startProgramInTest(['weather', '--data', data, ...streams], { env });
    startProgramInTest(['labels', '--store', `sqlite:${data}/labels`, ...streams, ...sources], { env });
    const written = (name: string) => statSync(join(data, 'artifacts', name), { throwIfNoEntry: false }) !== undefined;
    await until('both artifacts are written', () => Object.values(artifactNames).every(written));
    const facts = startProgramInTest(['facts', '--artifacts', join(data, 'artifacts'), '--port', String(port)]);
    await facts.listening();

    let said = await runProgram(['doctor', ...flags()]);
    // Wait for a page, because the first artifact may describe a time before any page was accepted.
    await until('a first page is accepted', async () => {
      said = await runProgram(['doctor', ...flags()]);
      return said.stdout.some((line) => line.startsWith('ok    labels artifact'));
    });
    expect(said.stderr).toEqual([]);
    // Exclude this machine's disk space from the comparison.
    const lines = said.stdout.filter((line) => !/^\w+ +disk/.test(line));
    expect(lines.map((line) => line.slice(0, 22).trimEnd())).toEqual([
      'ok    runtime',
      'ok    contact',
      'ok    data directory',
      'ok    label store',
      'ok    label writer',
      'ok    label standby',
      'ok    weather store',
      'ok    labels artifact',
      'ok    weather artifact',
      'ok    facts port',
      'ok    account port',
      'ok    jetstream',
      'ok    relay',
      'ok    relay',
      'ok    directory',
      'ok    clock',
    ]);
    expect(lines.find((line) => line.includes('label writer'))).toMatch(
      /one is running, active \d+ s ago; a second writer would/,
    );
    expect(lines.find((line) => line.includes('facts port'))).toBe(
      `ok    facts port       127.0.0.1:${port} is used by the Almanac of ${join(data, 'artifacts')}`,
    );
    expect([0, 2]).toContain(said.code);
  });

  it('changes no file, whether the observatory stopped cleanly or crashed', async () => {
    await settle();
    const before = everything();
    expect((await doctor()).of('label store')).toMatchObject([{ level: 'ok' }]);
    expect(everything()).toEqual(before);

    const at = micros(Date.now() * 1000);
    const writer = openSqliteWriter({ folder: join(data, 'labels'), at });
    await writer.beat(micros(at + 5));
    // The copy has the state that a kill leaves: a database whose log was not checkpointed.
    cpSync(join(data, 'labels'), join(data, 'crashed'), { recursive: true });
    await writer.close();
    rmSync(join(data, 'labels'), { recursive: true });
    const crashed = everything();
    const said = await doctor([...flags(), '--store', `sqlite:${join(data, 'crashed')}`]);
    expect(said.of('label writer')[0]?.found).toMatch(/^none is running; the last one was active \d+ s ago$/);
    expect(everything()).toEqual(crashed);
  });

  it('reports the missing data directory, stores and artifacts as warnings before the first start', async () => {
    const said = await doctor([...flags(), '--data', join(data, 'new'), '--min-free-megabytes', '0']);
    expect(said.unwell().filter((name) => name !== 'warn disk')).toEqual([
      'warn data directory',
      'warn label store',
      'warn weather store',
      'warn labels artifact',
      'warn weather artifact',
    ]);
    expect([said.verdict, said.code]).toEqual(['warn', 2]);
    expect(readdirSync(data)).toEqual([]);
  });

  it('asks for a contact if no contact is set', async () => {
    const withoutContact = flags().filter((_, i, all) => all[i] !== '--contact' && all[i - 1] !== '--contact');
    expect((await doctor(withoutContact)).of('contact')).toEqual([
      {
        check: 'contact',
        level: 'warn',
        found: 'no contact is set: operators of labelers cannot reach you',
        todo: 'set --contact to a web or mail address',
      },
    ]);
  });

  it('exits with 1 if a check fails, and suggests what to do', async () => {
    await settle();
    const said = await doctor([...flags(), '--min-free-megabytes', '100000000']);
    expect([said.verdict, said.code]).toEqual(['fail', 1]);
    expect(said.of('disk')).toMatchObject([
      { level: 'fail', todo: 'free some space: no labels are accepted until then' },
    ]);
    expect(said.findings.filter(({ level, todo }) => (level === 'ok') !== (todo === null))).toEqual([]);
  });
});

describe('a label store outside the data directory', () => {
  it('has its own disk, which is checked instead of that of the data directory', async () => {
    const store = join(data, 'elsewhere');
    const said = await doctor([...flags(), '--store', `sqlite:${store}`, '--min-free-megabytes', '100000000']);
    expect(said.of('disk')).toMatchObject([{ level: 'fail', found: expect.stringContaining(` at ${store}`) }]);
  });

  it('in a database does not need room on this disk, and has its list of denied labelers in --state', async () => {
    const state = join(data, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'labels-denied.json'), '{');
    const store = `postgres://127.0.0.1:${await freePort()}/none`;
    const args = ['--store', store, '--state', state, '--min-free-megabytes', '100000000'];
    const said = await doctor([...flags(), ...args]);
    expect(said.of('disk')).toMatchObject([{ level: 'ok', found: expect.stringContaining(` at ${data}`) }]);
    expect(said.of('denied labelers')).toMatchObject([{ level: 'fail' }]);
  });
});

describe('the check of the upstreams', () => {
  it('reports a seeds file that cannot be read in one line', async () => {
    const seeds = join(data, 'none.json');
    const { code, stderr } = await runProgram(['doctor', ...flags({ ...network, seeds })]);
    expect(code).toBe(1);
    expect(stderr).toEqual([expect.stringContaining(`cannot read the seeds file ${seeds}`)]);
  });

  it('fails if the upstreams refuse connections, but only warns if another relay responds', async () => {
    const closed = await freePort();
    const gone = `http://127.0.0.1:${closed}`;
    const said = await doctor([
      ...flags({ ...network, jetstream: `ws://127.0.0.1:${closed}/subscribe`, plc: gone }),
      '--relay',
      gone,
    ]);
    expect(said.of('relay')).toMatchObject([
      { level: 'ok' },
      { level: 'ok' },
      {
        level: 'warn',
        found: `${gone} cannot be reached (connect): the connection was refused (ECONNREFUSED)`,
        todo: 'another relay responds',
      },
    ]);
    expect(said.of('directory')).toMatchObject([{ level: 'fail', todo: expect.stringMatching(/firewall/) }]);
    expect(said.of('jetstream')).toMatchObject([
      { level: 'fail', found: expect.stringMatching(/: the connection was refused \(ECONNREFUSED\)$/) },
    ]);
  });

  it('finishes even if no upstream responds', async () => {
    const { port: hanging } = await listenForTest(createServer(() => undefined));
    const mute = `http://127.0.0.1:${hanging}`;
    const said = await doctor(
      flags({ ...network, jetstream: `ws://127.0.0.1:${hanging}/subscribe`, plc: mute, relays: [mute] }),
      hurried(),
    );
    expect(said.of('directory')).toMatchObject([
      { level: 'fail', found: `${mute} did not respond within 8 s (stuck at answer)` },
    ]);
    expect(said.of('relay')).toMatchObject([{ level: 'fail' }]);
    expect(said.of('jetstream')).toMatchObject([{ level: 'fail' }]);
    const host = `127.0.0.1:${hanging}`;
    expect(said.of('network')).toEqual([
      {
        check: 'network',
        level: 'fail',
        found: `tried ${host} (jetstream), ${host} (relay), ${host} (directory): none of them responds`,
        todo: 'check the network, the resolver and the firewall (outbound TCP 443)',
      },
    ]);
    expect(said.of('clock')).toMatchObject([{ level: 'warn', found: 'no upstream reported the time' }]);
  });

  it('fails if the stream accepts the connection but sends nothing', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    const { port: silent } = await listenForTest(server);
    onTestFinished(() => sockets.close());
    const said = await doctor(flags({ ...network, jetstream: `ws://127.0.0.1:${silent}/subscribe` }), hurried());
    expect(said.of('jetstream')).toMatchObject([
      { level: 'fail', found: `ws://127.0.0.1:${silent}/subscribe accepts connections, but sends no events` },
    ]);
  });

  it('includes both weather hosts, and names the published host', async () => {
    await settle();
    const closed = `ws://127.0.0.1:${await freePort()}/subscribe`;
    const second = network.jetstream;
    const check = async (published: string, caveats: string[]) => {
      const young = youngArtifact('weather') as WeatherSummary;
      put(artifactNames.weather, { ...young, source: { ...young.source, endpoint: published }, caveats });
      return doctor(flags({ ...network, jetstream: closed }).concat('--jetstream', second));
    };
    const before = await check(closed, []);
    expect(before.of('jetstream')).toMatchObject([
      { level: 'warn', todo: 'the other host is published while this one does not respond' },
      { level: 'ok', found: `${second} sends events` },
    ]);
    expect(before.of('weather host')).toMatchObject([
      { level: 'ok', found: `${new URL(closed).host}, the first of two hosts, is published` },
    ]);
    const after = await check(second, [
      'All of this is of the second, published since 2026-11-20T12:00:00.000Z because',
    ]);
    expect(after.of('weather host')).toMatchObject([
      {
        level: 'warn',
        found: `${new URL(second).host}, the second of two hosts, is published since 2026-11-20T12:00:00.000Z`,
      },
    ]);
  });

  it('contacts no address that the outbound guard refuses', async () => {
    const said = await doctor(flags().filter((flag) => flag !== '--allow-loopback'));
    for (const check of ['relay', 'directory']) {
      expect(said.of(check)[0]).toMatchObject({ level: 'fail', found: expect.stringMatching(/ was not contacted: /) });
    }
    expect(said.of('jetstream')[0]).toMatchObject({ level: 'fail', todo: 'correct the setting' });
  });

  it('fails if this machine’s clock differs from the clocks of the upstreams', async () => {
    const past = createSim({ seed: 4, rate: 50, historyHours: 1, labelers: 1, clock: () => Date.now() - 3_600_000 });
    onTestFinished(() => past.stop());
    const said = await doctor(flags(await past.start()));
    expect(said.of('clock')).toMatchObject([
      {
        level: 'fail',
        found: expect.stringMatching(/^this machine is (?:359|360)\d\.\d s ahead of the upstreams$/),
        todo: 'no labels will be accepted: set the clock and enable NTP',
      },
    ]);
  });
});

describe('the check of the data', () => {
  it('fails if the data directory cannot be written or is a file', async () => {
    // Use a directory below /proc, where not even root can write.
    const said = await doctor([...flags(), '--data', '/proc/almanac']);
    expect(said.of('data directory')).toMatchObject([
      { level: 'fail', found: expect.stringMatching(/^\/proc is not writable/) },
    ]);
    writeFileSync(join(data, 'file'), '');
    expect((await doctor([...flags(), '--data', join(data, 'file')])).of('data directory')).toMatchObject([
      { level: 'fail', found: `${join(data, 'file')} is not a directory` },
    ]);
  });

  it.each([
    [
      'a damaged store',
      'fail',
      /SQLITE_NOTADB|not a database/,
      (state: string) => writeFileSync(state, 'x'.repeat(9000)),
    ],
    [
      'a store of a newer version',
      'fail',
      new RegExp(`has schema version 99, but this program supports at most ${stateMigrations.length}$`),
      (state: string) => pragma(state, 99),
    ],
    [
      'a store with days but without a state file',
      'fail',
      /state\.sqlite is missing .*almanac labels restore FROM/,
      (state: string) => rmSync(state),
    ],
    [
      'a store that was never initialized',
      'warn',
      /never initialized|does not exist|contains no store/,
      (state: string) => {
        rmSync(state);
        rmSync(join(state, '..', 'days'), { recursive: true });
      },
    ],
  ])('reports %s', async (_name, level, found, spoil) => {
    await settle();
    spoil(join(data, 'labels', 'state.sqlite'));
    expect((await doctor()).of('label store')).toMatchObject([{ level, found: expect.stringMatching(found) }]);
  });

  it("fails if a store's days are missing", async () => {
    await settle();
    const days = join(data, 'labels', 'days');
    const [file = ''] = readdirSync(days).filter((name) => name.endsWith('.open.sqlite'));
    const day = file.replace('.open.sqlite', '');
    rmSync(join(days, file));
    expect((await doctor()).of('label store')).toMatchObject([
      { level: 'fail', found: `the files of ${day} are missing`, todo: 'restore them, or a backup' },
    ]);
  });

  it('fails if a writer holds the store but shows no heartbeat', async () => {
    const at = micros((Date.now() - 600_000) * 1000);
    const writer = openSqliteWriter({ folder: join(data, 'labels'), at });
    onTestFinished(() => writer.close());
    await writer.beat(at);
    expect((await doctor()).of('label writer')).toMatchObject([
      { level: 'fail', found: expect.stringMatching(/^a process holds the store, but was last active 6\d\d s ago$/) },
    ]);
  });

  it('fails for a weather store that is invalid or of another version', async () => {
    writeFileSync(join(data, 'weather.sqlite'), 'x'.repeat(200));
    expect((await doctor()).of('weather store')).toMatchObject([
      { level: 'fail', found: expect.stringMatching(/is not a SQLite file$/) },
    ]);
    rmSync(join(data, 'weather.sqlite'));
    pragma(join(data, 'weather.sqlite'), 7);
    expect((await doctor()).of('weather store')).toMatchObject([
      {
        level: 'fail',
        found: expect.stringMatching(
          new RegExp(`has version 7, but this program reads version ${weatherStoreVersion}$`),
        ),
      },
    ]);
  });
});

describe('the check of the artifacts', () => {
  it.each([
    ['held', 'warn', /is held$/, { ...youngArtifact('recent'), hold: true }],
    [
      'stale',
      'fail',
      /is refused: the artifact is \d+\.?\d* s old, more than 7200 s$/,
      youngArtifact('recent', Date.now() - 1e7),
    ],
    ['malformed', 'fail', /is refused: malformed/, '{"schema":"labels.recent-overview.v1"}'],
    ['of an unknown producer', 'fail', /is refused: unknown schema/, '{"schema":"other"}'],
    ['of the other instrument', 'fail', /is an artifact of weather$/, youngArtifact('weather')],
  ])('reports the problem of an artifact that is %s', async (_name, level, found, content) => {
    await settle();
    put(artifactNames.labels, content);
    expect((await doctor()).of('labels artifact')).toMatchObject([{ level, found: expect.stringMatching(found) }]);
  });
});

describe('the check of a port', () => {
  it('fails if another program uses it', async () => {
    const { port: taken } = await listenForTest(createServer((_request, response) => response.end('{"service":"x"}')));
    const said = await doctor([...flags(), '--port', String(taken), '--metrics-port', String(taken)]);
    const found = `127.0.0.1:${taken} is used by another program`;
    expect(said.of('facts port')).toMatchObject([{ level: 'fail', found, todo: expect.stringMatching(/--port$/) }]);
    expect(said.of('facts metrics')).toMatchObject([{ level: 'fail', found }]);
  });

  it('fails if another program uses the metrics port of the archive, which is checked if --archive is set', async () => {
    const { port: taken } = await listenForTest(createServer((_request, response) => response.end('other_metric 1')));
    const metrics = ['--metrics-port', String(taken - 4)];
    const check = 'archive metrics';
    expect((await doctor([...flags(), ...metrics, '--archive', join(data, 'archive')])).of(check)).toEqual([
      {
        check,
        level: 'fail',
        found: `127.0.0.1:${taken} is used by another program`,
        todo: 'stop that program, or choose another port with --metrics-port',
      },
    ]);
    expect((await doctor([...flags(), ...metrics])).of(check)).toEqual([]);
  });

  async function running(command: 'facts' | 'account', args: readonly string[]): Promise<number> {
    const env = { ALMANAC_LOG_LEVEL: 'silent' };
    return (await startProgramInTest([command, ...args, '--port', '0'], { env }).listening()).port;
  }

  it('reports whether the Almanac process on the port uses the given artifacts and store, or that this is unknown', async () => {
    await settle();
    const other = join(data, 'other');
    mkdirSync(join(other, 'artifacts'), { recursive: true });
    writeFileSync(
      join(other, 'artifacts', artifactNames.labels),
      JSON.stringify(youngArtifact('recent', Date.now() - 60_000)),
    );
    await openSqliteWriter({ folder: join(other, 'labels'), at: micros(Date.now() * 1000) }).close();
    const place = (folder: string) => ({
      artifacts: join(folder, 'artifacts'),
      store: `sqlite:${join(folder, 'labels')}`,
    });
    const ours = place(data);
    const facts = await running('facts', ['--artifacts', ours.artifacts]);
    const account = await running('account', ['--store', ours.store, '--data', data]);
    const asked = async ({ artifacts, store }: ReturnType<typeof place>) => {
      const ports = ['--port', String(facts), '--account-port', String(account)];
      const said = await doctor([...flags(), '--artifacts', artifacts, '--store', store, ...ports]);
      return ['facts port', 'account port'].map((check) => said.of(check).map(({ level, found }) => [level, found])[0]);
    };
    expect(await asked(ours)).toEqual([
      ['ok', `127.0.0.1:${facts} is used by the Almanac of ${ours.artifacts}`],
      ['ok', `127.0.0.1:${account} is used by the Almanac of ${ours.store}`],
    ]);
    const theirs = place(other);
    expect(await asked(theirs)).toEqual([
      ['fail', `127.0.0.1:${facts} is used by an Almanac that does not use ${theirs.artifacts}`],
      ['fail', `127.0.0.1:${account} is used by an Almanac that does not use ${theirs.store}`],
    ]);
    const untold = (port: number) => `127.0.0.1:${port} is used by an Almanac whose set-up is unknown`;
    expect(await asked(place(join(data, 'none')))).toEqual([
      ['ok', untold(facts)],
      ['ok', untold(account)],
    ]);
  });

  it('reports an unknown set-up if another Almanac serves metrics on the port', async () => {
    const metrics = createServer((_request, response) => response.end('almanac_process_cpu_seconds_total 1'));
    const { port: taken } = await listenForTest(metrics);
    expect((await doctor([...flags(), '--metrics-port', String(taken)])).of('facts metrics')).toMatchObject([
      { level: 'ok', found: `127.0.0.1:${taken} is used by an Almanac whose set-up is unknown` },
    ]);
  });

  it('fails for an address that this machine does not have', async () => {
    expect((await doctor([...flags(), '--host', '192.0.2.1'])).of('facts port')).toMatchObject([
      {
        level: 'fail',
        found: expect.stringMatching(
          /cannot listen on 192\.0\.2\.1:\d+: this machine has no such address \(EADDRNOTAVAIL\)$/,
        ),
      },
    ]);
  });
});

function pragma(path: string, version: number): void {
  const db = new Database(path);
  db.pragma(`user_version = ${version}`);
  db.close();
}
