import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LabelsProcess, spawnLabels } from '../../harness/labels/labels-process.ts';
import { type SimulationClock, simulationClock } from '../../harness/process/clock-setting.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { micros } from '../../src/store/time.ts';

/** These tests start no network, because the arguments are refused before anything is read. */
describe('almanac labels with wrong arguments', () => {
  test.each([
    [['hold'], 'hold requires a reason: almanac labels hold --reason "…"'],
    [
      ['rest'],
      'unknown action "rest": use hold, release, verify, new-epoch, restore, deny, allow, sources, hand-over or purge, or no action to observe',
    ],
    [
      ['deny', 'co.uk', '--store', 'sqlite:/'],
      '"co.uk" does not name a labeler: the operand is a public suffix; give a domain below it, or a DID',
    ],
    [['deny', 'a.example', '--store', 'sqlite:/nowhere'], '/nowhere contains no store; set it with --store sqlite:DIR'],
    [['sources', 'x'], 'unexpected "x" after sources'],
    [['allow'], 'allow requires a DID or a domain: almanac labels allow DID-or-domain'],
    [
      ['--store', 'file:x'],
      'file:x is not a store URL: use sqlite:DIR for a directory, or postgres://USER@HOST[:PORT][,HOST…]/DATABASE',
    ],
    [['--plc', 'nowhere'], '--plc requires a URL (https or http); got "nowhere"'],
  ])('is rejected with a one-line error (%j)', async (args, line) => {
    expect(await spawnLabels(args).ended).toEqual({ code: 1, stdout: [], stderr: [`almanac: ${line}`] });
  });
});

let folder: string;
let clock: SimulationClock;
let sim: Sim;
let network: string[];
let running: LabelsProcess | null = null;
let facts: Server | null = null;

const places = () => ['--store', `sqlite:${folder}/store`, '--artifacts', `${folder}/artifacts`];

async function observe(env: Readonly<Record<string, string>> = {}): Promise<LabelsProcess> {
  const args = [...places(), ...network, '--publish-seconds', '1', '--min-free-megabytes', '0'];
  const labels = spawnLabels(args, env);
  running = labels;
  await labels.observing;
  // On a slow machine, the instrument begins to observe before its clock is confirmed and the first artifact is written.
  await until('the first artifact is published', () => existsSync(join(folder, 'artifacts', 'labels-overview.json')));
  return labels;
}

function overview(): RecentOverview {
  return JSON.parse(readFileSync(join(folder, 'artifacts', 'labels-overview.json'), 'utf8')) as RecentOverview;
}

async function answer(): Promise<{ status: number; state: string }> {
  const response = await fetch(`${facts?.url}/v1/labels/overview`);
  const { freshness, error } = (await response.json()) as {
    freshness?: { state: string };
    error?: { freshness?: { state: string } };
  };
  return { status: response.status, state: (freshness ?? error?.freshness)?.state ?? 'none' };
}

/** Returns the number of rows by labeler and action, as another process reads them. */
async function stored() {
  const store = openSqliteReader(join(folder, 'store'));
  try {
    const { startedAt: start } = await store.epoch();
    const counts = await store.countsByLabeler({ start, end: micros(Date.now() * 1000 + 3_600_000_000) });
    const gaps = await store.gaps({ start, end: micros(Date.now() * 1000 + 3_600_000_000) });
    return { start, rows: new Map(counts.map(({ labeler, ...actions }) => [labeler, actions])), gaps };
  } finally {
    await store.close();
  }
}

/** Returns true if the store contains the endpoint of every labeler. */
async function knowsEndpoints(): Promise<boolean> {
  const store = openSqliteReader(join(folder, 'store'));
  try {
    const roster = await store.roster();
    return roster.length === 4 && roster.every(({ endpoint }) => endpoint !== null);
  } finally {
    await store.close();
  }
}

describe('almanac labels', () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-command-'));
    // Skyware labelers never replace rows, so labels that were emitted while no instrument was running can be read later.
    const shapeLabeler = () => ({ software: 'skyware' }) as const;
    clock = simulationClock(join(folder, 'clock.json'));
    clock.run(1);
    sim = createSim({ rate: 1, historyHours: 0, labelers: 4, labelRate: 20, shapeLabeler, clock: clock.now });
    const { seeds, plc, relays, jetstream } = await sim.start();
    network = ['--plc', plc ?? '', '--jetstream', jetstream, '--seeds', seeds ?? '', '--allow-loopback'];
    network.push(...relays.flatMap((relay) => ['--relay', relay]));
  });

  afterEach(async () => {
    running?.process.kill('SIGKILL');
    await running?.ended;
    await facts?.stop();
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
    running = null;
    facts = null;
  });

  test('neither loses nor repeats an accepted row when it is killed repeatedly, and records the time between the runs as a gap', async () => {
    for (let kill = 0; kill < 3; kill++) {
      const { process, ended } = await observe();
      const before = kill === 0 ? 0 : overview().counts.events_window;
      await until('some more labels are counted', () => overview().counts.events_window > before + 5);
      process.kill('SIGKILL');
      await ended;
    }
    await observe();
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    const compared = async () => {
      const { start, rows } = await stored();
      const { byAction } = sim.labelers.truth.expected({ epochUs: start, which: 'emitted' });
      return { stored: [...rows].sort(), emitted: [...byAction].sort() };
    };
    const same = async (): Promise<boolean> => {
      const { stored, emitted } = await compared();
      return isDeepStrictEqual(stored, emitted);
    };
    await until('the stored rows agree with the emitted labels', same).catch(async () => {
      const { stored, emitted } = await compared();
      expect(stored).toEqual(emitted);
    });
    const { gaps } = await stored();
    expect(gaps.map(({ source, reason }) => ({ source, reason }))).toEqual(
      Array.from({ length: 3 }, () => ({ source: null, reason: 'ingest_paused' })),
    );
    running?.process.kill('SIGTERM');
    expect(await running?.ended).toMatchObject({ code: 0, stderr: [] });
    const verified = await spawnLabels(['verify', ...places()]).ended;
    expect([verified.code, verified.stdout.at(-1)]).toEqual([0, 'every counter matches its rows']);
  });

  test('publishes facts that are served while it runs, refused under a hold, and stale after it has stopped', async () => {
    await observe();
    const serve = ['facts', '--port', '0', '--artifacts', `${folder}/artifacts`];
    facts = await startServer(serve);
    await until('the first artifact is served', async () => (await answer()).status === 200);
    expect(await answer()).toEqual({ status: 200, state: 'warming_up' });
    await until('the artifact has its coverage', () => overview().coverage.status === 'warming_up');
    expect(overview()).toMatchObject({
      origin: 'simulated',
      coverage: { sources: { enrolled: 4, established: 4, seeded: 4 } },
    });

    const held = await spawnLabels(['hold', '--artifacts', `${folder}/artifacts`, '--reason', 'a key leaked']).ended;
    expect(held.code).toBe(0);
    expect(await answer()).toEqual({ status: 503, state: 'held' });
    const at = overview().generated_at;
    await until('the next artifact is published', () => overview().generated_at !== at);
    expect(await answer()).toEqual({ status: 503, state: 'held' });
    expect((await spawnLabels(['release', '--artifacts', `${folder}/artifacts`]).ended).code).toBe(0);
    // An artifact that was being written at the release may still contain the hold.
    await until('the facts are served again', async () => (await answer()).status === 200);
    expect(await answer()).toEqual({ status: 200, state: 'warming_up' });

    await facts.stop();
    facts = await startServer([...serve, '--max-age-seconds', '4']);
    await until('the young artifact is served', async () => (await answer()).status === 200);
    running?.process.kill('SIGKILL');
    await until('the artifact is stale', async () => (await answer()).state === 'stale');
    expect(await answer()).toEqual({ status: 503, state: 'stale' });
  });

  test('does not start while another process uses the store, and reports that process in one line', async () => {
    await observe();
    expect(await spawnLabels([...places(), ...network]).ended).toEqual({
      code: 1,
      stdout: [],
      stderr: [
        `almanac: cannot open the store sqlite:${folder}/store: another process is writing to this store; stop it first`,
      ],
    });
  });

  test('records a maintenance gap after a restart under a hold', async () => {
    const first = await observe();
    await until('a page is read', () => overview().coverage.observed_through !== null);
    first.process.kill('SIGTERM');
    await first.ended;
    await spawnLabels(['hold', '--artifacts', `${folder}/artifacts`, '--reason', 'a new disk']).ended;
    await observe();
    expect((await stored()).gaps).toMatchObject([{ source: null, reason: 'maintenance' }]);
    await until('the gap is published', () => overview().coverage.gaps.length === 1);
    expect(overview()).toMatchObject({ hold: true, coverage: { gaps: [{ reason: 'maintenance' }] } });
  });

  test('sets a hold only in an existing directory, and reports a replaced hold and a missing overview', async () => {
    const hold = (artifacts: string, reason: string) =>
      spawnLabels(['hold', '--artifacts', artifacts, '--reason', reason]).ended;
    const nowhere = join(folder, 'artifcats');
    const refused = `almanac: ${nowhere} is not a directory; set the artifact directory with --artifacts`;
    expect(await hold(nowhere, 'a key leaked')).toEqual({ code: 1, stdout: [], stderr: [refused] });
    expect(await spawnLabels(['release', '--artifacts', nowhere]).ended).toMatchObject({ code: 1, stderr: [refused] });
    const held = `the label facts of ${folder} are held; almanac labels release ends the hold`;
    const absent = 'no labels-overview.json exists there yet: is it the directory that the facts API reads?';
    expect((await hold(folder, 'a key leaked')).stdout).toEqual([held, absent]);
    const again = await hold(folder, 'another one');
    expect(again.stdout[0]).toMatch(/^replaces the hold since \S+: a key leaked$/);
    expect(again.stdout.slice(1)).toEqual([held, absent]);
  });

  test('denies a labeler while it runs, lists the denial, and allows the labeler again', async () => {
    // The list of denied labelers is read every five seconds of this clock, and the roster is stored every ten.
    clock.run(6);
    await observe({ ...clock.env, SCALED_TIMERS: '1' });
    await until('all labelers are established', () => overview().coverage.sources.established === 4);
    const [hostile] = sim.labelers.list;
    const did = hostile?.did ?? '';
    await until('a heartbeat has stored the known labelers', knowsEndpoints);
    const run = async (...args: string[]) => (await spawnLabels([...args, ...places()]).ended).stdout;
    expect(await run('deny')).toEqual(['no labeler is denied']);
    expect(await run('deny', did, '--reason', 'floods')).toEqual([
      `${did} is denied`,
      expect.stringMatching(new RegExp(`^  ${did} at http://127\\.0\\.0\\.1:\\d+$`)),
      'a running instrument stops reading denied labelers within 10 s; almanac labels allow ends a denial',
    ]);
    await until('the enrolment has changed', () => overview().coverage.sources.enrolled === 3);
    const [listed = ''] = await run('deny');
    expect(listed).toMatch(new RegExp(`^${did} since \\S+Z: floods$`));
    // Keep the date and the reason of the first denial, because the gap began then.
    expect((await run('deny', did))[0]).toBe(`${did} was already denied`);
    expect(await run('deny')).toEqual([listed]);
    await run('deny', '127.0.0.1');
    expect(await run('allow', did)).toEqual([`${did} is allowed`, '  it is still denied by 127.0.0.1']);
    expect(await run('allow', '127.0.0.1', did)).toEqual(['127.0.0.1 is allowed', `${did} was not denied`]);
    await until('the enrolment has changed back', () => overview().coverage.sources.enrolled === 4);
    running?.process.kill('SIGTERM');
    expect(await running?.ended).toMatchObject({ code: 0, stderr: [] });
  });

  test('lists its sources with their resource use and their stored rows', async () => {
    await observe();
    await until('the rows of each labeler are stored', async () => (await stored()).rows.size === 4);
    const run = async (...args: string[]) => (await spawnLabels(['sources', ...args, ...places()]).ended).stdout;
    await until('a report of the endpoints is given', async () => (await run('--json')).join('').includes('127.0.0.1'));
    const [head, columns, total, ...lines] = await run();
    expect(head).toMatch(/^since \S+Z, as of \S+Z; window: rows that the store holds$/);
    expect(columns?.trim().split(/ {2,}/)).toEqual([
      ...[
        'cpu s',
        'MB in',
        'MB stored',
        'rows',
        'window',
        'writes',
        'throttled s',
        'slots',
        'state',
        'standing',
        'source',
      ],
    ]);
    expect(total).toMatch(/4 sources$/);
    for (const { did } of sim.labelers.list) {
      expect(lines.find((line) => line.includes(did))).toMatch(/ 1 +established +seeded +did:plc:\w+ 127\.0\.0\.1$/);
    }
    expect(lines.at(-1)).toMatch(/ 4 +- +- +4 +127\.0\.0\.1$/);
    const [json = ''] = await run('--json');
    const { listed, domains } = JSON.parse(json) as { listed: { window: number }[]; domains: { window: number }[] };
    expect(listed.every(({ window }) => window > 0)).toBe(true);
    const rows = listed.reduce((sum, { window }) => sum + window, 0);
    expect(domains).toMatchObject([{ domain: '127.0.0.1', labelers: 4, window: rows }]);
  });

  test('purges a denied labeler while it runs, reports the progress, and completes after a kill', async () => {
    await observe();
    const did = sim.labelers.list[0]?.did ?? '';
    const rows = async () => (await stored()).rows.get(did);
    await until('its rows are stored', async () => (await rows()) !== undefined);
    const run = async (...args: string[]) => spawnLabels([...args, ...places()]).ended;
    expect(await run('purge', did)).toMatchObject({
      code: 1,
      stderr: [`almanac: ${did} is not denied, so its rows would be read again; first run almanac labels deny ${did}`],
    });
    expect((await run('purge')).stdout).toEqual(['no purge has been requested']);
    expect(await run('purge', 'example.com')).toMatchObject({
      stderr: ['almanac: purge requires a DID; example.com is a domain'],
    });
    await run('deny', did);
    const { stdout } = await run('purge', did);
    expect(stdout[0]).toMatch(new RegExp(`^${did} requested \\S+: `));
    running?.process.kill('SIGKILL');
    await running?.ended;
    await observe();
    await until('the removal has ended', async () => (await run('purge')).stdout[0]?.includes('completed') === true);
    expect(await rows()).toBeUndefined();
    expect((await run('purge')).stdout).toEqual([
      expect.stringMatching(new RegExp(`^${did} requested \\S+: completed \\S+, \\d+ rows removed$`)),
    ]);
    expect((await run('allow', did)).stdout).toEqual([`${did} is allowed`]);
    running?.process.kill('SIGTERM');
    expect(await running?.ended).toMatchObject({ code: 0, stderr: [] });
    expect((await run('verify')).stdout.at(-1)).toBe('every counter matches its rows');
  });

  test('does not start with a damaged list of denied labelers, and reports the damage in one line', async () => {
    const store = join(folder, 'store');
    mkdirSync(store);
    writeFileSync(join(store, 'labels-denied.json'), 'no list');
    expect(await spawnLabels([...places(), ...network]).ended).toEqual({
      code: 1,
      stdout: [],
      stderr: [
        `almanac: the list of denied labelers ${store}/labels-denied.json is invalid: the file is not JSON; correct it or ` +
          'restore a copy, or move it aside to deny no labeler',
      ],
    });
    expect(readdirSync(store)).toEqual(['labels-denied.json']);
  });

  test('reports a missing day as a problem when it verifies a store', async () => {
    const first = await observe();
    await until('a page is read', () => overview().coverage.observed_through !== null);
    first.process.kill('SIGTERM');
    await first.ended;
    const days = join(folder, 'store', 'days');
    const [name = ''] = readdirSync(days).filter((file) => /^\d{4}-\d\d-\d\d.*sqlite$/.test(file));
    renameSync(join(days, name), join(folder, name));
    const { code, stdout } = await spawnLabels(['verify', ...places()]).ended;
    expect(code).toBe(1);
    const day = name.slice(0, 10);
    expect(stdout).toEqual([
      `${day} open 0 rows`,
      expect.stringContaining(`  a day's file is missing in ${days}: ${day}`),
      'problems: 1',
    ]);
  });
});
