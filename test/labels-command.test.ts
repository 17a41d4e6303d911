import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSim, type Sim } from '../sim/index.ts';
import type { RecentOverview } from '../src/artifact/recent-overview.ts';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { micros } from '../src/store/time.ts';
import { type Almanac, startAlmanac } from './support/almanac.ts';
import { until } from './support/label-station.ts';
import { type LabelsProcess, spawnLabels } from './support/labels-process.ts';

let folder: string;
let sim: Sim;
let network: string[];
let running: LabelsProcess | null = null;
let facts: Almanac | null = null;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-command-'));
  // Nobody replaces rows: what was emitted while nobody observed can be read later, however long that took.
  const shapeLabeler = () => ({ software: 'skyware' }) as const;
  sim = createSim({ rate: 1, historyHours: 0, labelers: 4, labelRate: 20, shapeLabeler });
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

const places = () => ['--store', `sqlite:${folder}/store`, '--artifacts', `${folder}/artifacts`];

async function observe(): Promise<LabelsProcess> {
  const labels = spawnLabels([...places(), ...network, '--publish-seconds', '1', '--min-free-megabytes', '0']);
  running = labels;
  await labels.observing;
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

/** Rows by labeler and action, as another process sees them. */
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

describe('almanac labels', () => {
  test('is killed again and again: nothing accepted is lost or stored twice, and the time in between is a gap', async () => {
    for (let kill = 0; kill < 3; kill++) {
      const { process, ended } = await observe();
      const before = kill === 0 ? 0 : overview().counts.events_window;
      await until('some more labels', () => overview().counts.events_window > before + 5);
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
    await until('the truth', same, 60_000).catch(async () => {
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
    expect([verified.code, verified.stdout.at(-1)]).toEqual([0, 'every counter equals its rows']);
  });

  test('is served while it observes, refused while it is held, and stale once it is gone', async () => {
    await observe();
    const serve = ['facts', '--port', '0', '--artifacts', `${folder}/artifacts`];
    facts = await startAlmanac(serve);
    await until('the first page', async () => (await answer()).status === 200);
    expect(await answer()).toEqual({ status: 200, state: 'warming_up' });
    await until('coverage', () => overview().coverage.status === 'warming_up');
    expect(overview()).toMatchObject({
      origin: 'simulated',
      coverage: { sources: { enrolled: 4, established: 4, seeded: 4 } },
    });

    const held = await spawnLabels(['hold', '--artifacts', `${folder}/artifacts`, '--reason', 'a key leaked']).ended;
    expect(held.code).toBe(0);
    expect(await answer()).toEqual({ status: 503, state: 'held' });
    const at = overview().generated_at;
    await until('the next artifact', () => overview().generated_at !== at);
    expect(await answer()).toEqual({ status: 503, state: 'held' });
    expect((await spawnLabels(['release', '--artifacts', `${folder}/artifacts`]).ended).code).toBe(0);
    expect(await answer()).toEqual({ status: 200, state: 'warming_up' });

    await facts.stop();
    facts = await startAlmanac([...serve, '--max-age-seconds', '4']);
    await until('a young page', async () => (await answer()).status === 200);
    running?.process.kill('SIGKILL');
    await until('its age', async () => (await answer()).state === 'stale');
    expect(await answer()).toEqual({ status: 503, state: 'stale' });
  });

  test('does not start beside another one on the same store, and says so in one line', async () => {
    await observe();
    expect(await spawnLabels([...places(), ...network]).ended).toEqual({
      code: 1,
      stdout: [],
      stderr: [
        `almanac: cannot open the store sqlite:${folder}/store: another process writes this store; stop it first`,
      ],
    });
  });

  test('started again under a hold says that it was maintained', async () => {
    const first = await observe();
    await until('a page', () => overview().coverage.observed_through !== null);
    first.process.kill('SIGTERM');
    await first.ended;
    await spawnLabels(['hold', '--artifacts', `${folder}/artifacts`, '--reason', 'a new disk']).ended;
    await observe();
    expect((await stored()).gaps).toMatchObject([{ source: null, reason: 'maintenance' }]);
    await until('published', () => overview().coverage.gaps.length === 1);
    expect(overview()).toMatchObject({ hold: true, coverage: { gaps: [{ reason: 'maintenance' }] } });
  });

  test('is held only in a folder that is there, and says what it replaces and what is missing', async () => {
    const hold = (artifacts: string, reason: string) =>
      spawnLabels(['hold', '--artifacts', artifacts, '--reason', reason]).ended;
    const nowhere = join(folder, 'artifcats');
    const refused = `almanac: ${nowhere} is no folder; name the one of the artifacts with --artifacts`;
    expect(await hold(nowhere, 'a key leaked')).toEqual({ code: 1, stdout: [], stderr: [refused] });
    expect(await spawnLabels(['release', '--artifacts', nowhere]).ended).toMatchObject({ code: 1, stderr: [refused] });
    const held = `the label facts of ${folder} are held; almanac labels release ends it`;
    const absent = 'no labels-overview.json stands there yet: is it the folder that the facts are served from?';
    expect((await hold(folder, 'a key leaked')).stdout).toEqual([held, absent]);
    const again = await hold(folder, 'another one');
    expect(again.stdout[0]).toMatch(/^in the place of the hold since \S+: a key leaked$/);
    expect(again.stdout.slice(1)).toEqual([held, absent]);
  });

  test('verifies no store with a missing day, and names the day in one line', async () => {
    const first = await observe();
    await until('a page', () => overview().coverage.observed_through !== null);
    first.process.kill('SIGTERM');
    await first.ended;
    const days = join(folder, 'store', 'days');
    const [name = ''] = readdirSync(days).filter((file) => /^\d{4}-\d\d-\d\d.*sqlite$/.test(file));
    renameSync(join(days, name), join(folder, name));
    const { code, stderr } = await spawnLabels(['verify', ...places()]).ended;
    expect(code).toBe(1);
    expect(stderr).toEqual([expect.stringContaining(`a day's file is missing in ${days}: ${name.slice(0, 10)}`)]);
  });

  test.each([
    [['hold'], 'a hold wants its reason: almanac labels hold --reason "…"'],
    [['rest'], 'unknown action "rest": use one of hold, release, verify, new-epoch, restore, or none to observe'],
    [['--store', 'postgres://x'], 'postgres://x is no store: give sqlite:DIR, a folder'],
    [['--plc', 'nowhere'], '--plc wants an address that begins with https://; got "nowhere"'],
  ])('refuses %j in one line', async (args, line) => {
    expect(await spawnLabels(args).ended).toEqual({ code: 1, stdout: [], stderr: [`almanac: ${line}`] });
  });
});
