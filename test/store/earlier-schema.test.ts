import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { startScript } from '../../harness/process/script.ts';
import { toStateSchema1, writeEarlierStore } from '../../harness/store/earlier-store.ts';
import { rosterRow } from '../../harness/store/roster-row.ts';
import { everyRow } from '../../harness/store/scan.ts';
import { useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';
import type { RosterRow } from '../../src/store/roster.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { repairStore } from '../../src/store/sqlite/repair/repair.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const [mod = '', other = '', web = ''] = labelers;
/** Time of the last commit of the earlier program, in microseconds. */
const last = micros(noon + 5 * day);
const at = (n: number) => micros(noon + n);

/** Roster that the earlier program stored as JSON texts. */
const roster = ((): RosterRow[] => {
  const known: Partial<RosterRow> = {
    ...{ origin: 'discovered', provenance: ['relay one.example', 'jetstream'], endpoint: 'https://one.example' },
    stateSince: noon,
  };
  const times = {
    ...{ firstAsked: at(1), firstAnswered: at(2), lastAnswered: at(3), failingSince: at(4), completeThrough: at(5) },
    ...{ dated: true, undated: true },
  };
  const handle = (name: string, confirmed: boolean) => ({ handle: { name, confirmed } });
  const unresolved: Partial<RosterRow> = { ...known, resolutionStatus: 'unresolved', firstAnswered: noon };
  return [
    rosterRow(other, { ...known, ...times, failingSince: null }),
    rosterRow(mod, { ...known, ...times, ...handle('one.example', true), origin: 'seeded' }),
    rosterRow('did:web:early.example', {
      ...{ ...known, firstAsked: at(1), firstAnswered: at(1), lastAnswered: at(3), completeThrough: at(3) },
    }),
    rosterRow('did:web:first.example', { ...unresolved, lastAnswered: at(3) }),
    rosterRow('did:web:list.example', { ...unresolved, state: 'asleep' }),
    rosterRow(web, {
      ...known,
      ...times,
      ...handle('two.example', false),
      resolutionStatus: 'bad_endpoint',
      dated: false,
    }),
    rosterRow('did:web:new.example', { ...unresolved, endpoint: null, enrolled: false }),
    rosterRow('did:web:odd.example', unresolved),
    rosterRow('did:web:text.example', { ...unresolved, provenance: [] }),
  ];
})();

/** Returns all data that the earlier program stored, as read through a reader. */
async function contentOf(reader: StoreReader) {
  const interval = { start: noon, end: micros(noon + 6 * day) };
  const problems: string[] = [];
  for await (const report of reader.verify()) problems.push(...report.problems);
  return {
    problems,
    rows: (await everyRow(reader, interval)).length,
    epoch: await reader.epoch(),
    through: (await reader.frontier()).observedThrough,
    refusals: await reader.refusals(interval),
    positions: await reader.positions(),
    gaps: await reader.gaps(interval),
    purges: await reader.purges(),
    heartbeat: await reader.heartbeat(),
    roster: await reader.roster(),
    keys: await reader.keys(mod),
    definitions: await reader.definitions(mod),
    origin: await reader.note('origin'),
  };
}

const content = {
  problems: [],
  rows: 36,
  epoch: { generationId: '11111111-2222-4333-8444-555555555555', startedAt: noon },
  through: last,
  refusals: [{ source: mod, reason: 'late', count: 9 }],
  positions: [{ source: mod, endpoint: 'https://one.example', value: '[20,"tail",null,null]', acceptedAt: last }],
  gaps: [{ source: mod, reason: 'ingest_paused', start: noon, end: micros(noon + day) }],
  purges: [],
  heartbeat: last,
  roster,
  keys: [{ did: mod, key: 'zQ3shone', firstSeen: noon, lastSeen: micros(noon + day) }],
  definitions: [{ did: mod, seenAt: noon, content: '{"labelValues":["spam"]}' }],
  origin: 'live',
};

/** Returns the data that only the instrument reads. */
async function instrumentContentOf(writer: StoreWriter) {
  const refused = await writer.refusedRows();
  return {
    refusedSources: [...new Set(refused.map(({ source }) => source))],
    buckets: refused.map(({ bucket }) => bucket),
    refusedRows: refused.reduce((sum, { rows }) => sum + rows.split(' ').length, 0),
    bytes: await writer.dailyBytes(20_005),
    directory: await writer.directoryPosition('plc.example'),
    notes: await Promise.all(['day-bytes', 'directory-position'].map((name) => writer.note(name))),
  };
}

const allBuckets = Array.from({ length: 16 }, (_, bucket) => bucket);
const instrumentContent = {
  refusedSources: [other, mod],
  buckets: [...allBuckets, ...allBuckets],
  refusedRows: 120,
  bytes: {
    day: 20_005,
    bytes: new Map([
      [mod, 4_096],
      [other, 17],
    ]),
  },
  directory: 12_345,
  notes: [null, null],
};

async function expectContent(): Promise<void> {
  const reader = openSqliteReader(place.path);
  expect(await contentOf(reader)).toEqual(content);
  await reader.close();
}

function schemas(): unknown[] {
  return ['state.sqlite', 'days/2024-10-09.open.sqlite'].map((name) => {
    const db = new Database(`${place.path}/${name}`, { readonly: true });
    const version = db.pragma('user_version', { simple: true });
    db.close();
    return version;
  });
}

/** Replaces a JSON text that the earlier program stored. */
function setNote(name: string, text: string): void {
  const db = new Database(`${place.path}/state.sqlite`);
  db.prepare('UPDATE note SET content = ? WHERE name = ?').run(text, name);
  db.close();
}

beforeEach(() => writeEarlierStore(place.path));

describe('a store of schema 2', () => {
  it('can be read completely before a writer has migrated it', async () => {
    await expectContent();
    expect(schemas()).toEqual([2, 3]);
  });

  it('loses no data when a writer migrates it', async () => {
    const writer = place.open({ at: last });
    expect(await instrumentContentOf(writer)).toEqual(instrumentContent);
    await writer.append({ at: last, observations: [], refusals: [], positions: [] });
    expect(await contentOf(writer)).toEqual(content);
    expect(await instrumentContentOf(writer)).toEqual(instrumentContent);
    expect(schemas()).toEqual([4, 5]);
    await place.close();
    await expectContent();
  });

  it.each([
    { name: 'above 64 bits', number: '99999999999999999999', kept: null },
    { name: 'above 2^53 - 1', number: '9007199254740992', kept: null },
    { name: 'below 0', number: '-1', kept: null },
    { name: 'of 2^53 - 1', number: '9007199254740991', kept: 9_007_199_254_740_991 },
  ])(
    'is migrated, and keeps counts and positions only if they are safe integers (a number $name)',
    async ({ number, kept }) => {
      setNote('day-bytes', `{"day":20005,"bytes":[["${mod}",5],["${other}",${number}]]}`);
      setNote('directory-position', `{"host":"plc.example","seq":${number}}`);
      const { bytes, directory } = await instrumentContentOf(place.open({ at: last }));
      const rest = kept === null ? [] : [[other, kept] as const];
      expect({ bytes, directory }).toEqual({
        bytes: { day: 20_005, bytes: new Map([[mod, 5], ...rest]) },
        directory: kept,
      });
    },
  );

  it('is migrated without counts whose day number exceeds 64 bits', async () => {
    setNote('day-bytes', `{"day":99999999999999999999,"bytes":[["${mod}",5]]}`);
    const { bytes } = await instrumentContentOf(place.open({ at: last }));
    expect(bytes).toEqual({ day: 20_005, bytes: new Map() });
  });

  it('keeps its refused rows if the first commit of the new version begins a day', async () => {
    const next = micros(last + day);
    await place.open({ at: next }).append({ at: next, observations: [], refusals: [], positions: [] });
    await place.close();
    const writer = place.open({ at: next });
    expect(await instrumentContentOf(writer)).toEqual(instrumentContent);
    expect(await writer.positions()).toEqual(content.positions);
  });

  it('can be read by a reader that was open during the migration', async () => {
    const reader = openSqliteReader(place.path);
    expect(await reader.roster()).toEqual(roster);
    const writer = place.open({ at: last });
    await writer.dropRoster([web]);
    expect(await reader.roster()).toEqual(roster.filter(({ did }) => did !== web));
    await writer.append({ at: last, observations: [], refusals: [], positions: [] });
    expect(await reader.positions()).toEqual(content.positions);
    await reader.close();
  });

  it('is migrated by a repair and by a restore', async () => {
    for await (const { day: report } of repairStore({ folder: place.path })) expect(report.problems).toEqual([]);
    expect(schemas()).toEqual([4, 3]);
    await expectContent();
    const from = `${place.path}/backup`;
    writeEarlierStore(from);
    const target = `${place.path}/restored`;
    await restoreStore({ from, folder: target, at: last });
    const reader = openSqliteReader(target);
    expect(await reader.roster()).toEqual(roster);
    await reader.close();
  });
});

it('a state file of schema 1 can be read, and shows purges once a writer has migrated it', async () => {
  toStateSchema1(place.path);
  const reader = openSqliteReader(place.path);
  expect(await reader.frontier()).toMatchObject({ revision: 0 });
  expect(await contentOf(reader)).toEqual(content);
  const writer = place.open({ at: last });
  const { end } = await reader.frontier();
  await writer.requestPurge({ source: mod, at: end });
  while (await writer.purge(end));
  expect((await reader.frontier()).revision).toBeGreaterThan(0);
  expect(await reader.purges()).toMatchObject([{ source: mod, rows: 12, completedAt: end }]);
  await reader.close();
});

describe('a writer that is killed during the migration', () => {
  const migrate = (fault: string): Promise<number | string> =>
    startScript('store/killed-store.ts', ['migrate', place.path, `${last}`, fault]).ended;

  // The migration from schema 1 has three steps for the state file, and two for the file of a day.
  const points = ['migrate.changed', 'migrate.recorded', 'migrate.committed'] as const;
  const cases = points.flatMap((point) => [1, 2, 3, 4, 5].map((count) => ({ fault: `${point}:${count}` })));

  it.each(cases)('leaves every file complete and at one schema (kill at $fault)', async ({ fault }) => {
    toStateSchema1(place.path);
    expect(await migrate(fault)).toBe('SIGKILL');
    await expectContent();
    expect(await migrate('')).toBe(0);
    expect(schemas()).toEqual([4, 5]);
    const writer = place.open({ at: last });
    expect(await contentOf(writer)).toEqual(content);
    expect(await instrumentContentOf(writer)).toEqual(instrumentContent);
  });

  it('is not killed at a sixth migration step, because the migration has only five', async () => {
    toStateSchema1(place.path);
    expect(await migrate('migrate.committed:6')).toBe(0);
  });
});
