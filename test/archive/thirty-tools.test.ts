import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { simulatedLabelers } from '../../harness/archive/simulated-hours.ts';
import { at } from '../../harness/archive/tabled-archive.ts';
import {
  type FirstCommand,
  firstCommands,
  installPackages,
  isNotInstalled,
  onOlderTables,
  output,
} from '../../harness/archive/tools/first-tools.ts';
import { startPostgres } from '../../harness/postgres/server.ts';
import { root } from '../../harness/process/imports.ts';
import { currentEdition } from '../../src/archive/tables/editions.ts';
import { firstEdition } from '../../src/archive/tables/first-edition.ts';
import type { Edition } from '../../src/archive/tables/table.ts';

/**
 * The first commands of more than thirty tools on the current tables, in three time zones, and on the tables of older
 * days. The table in docs/archive.md states each result.
 */

const zones = ['America/Los_Angeles', 'UTC', 'Asia/Tokyo'];
const folder = mkdtempSync(join(tmpdir(), 'almanac-tools-'));
const day = '2026-11-20';
const faults = {
  labels: [
    { start: at(0, 5), end: at(0, 9) },
    { start: at(0, 0), end: at(1, 0), labeler: simulatedLabelers[1] },
  ],
};
/** Truth: the applications of the observed hours, by day. */
const [ofFirst, ofSecond, hoursOfFirst, hours] = [56_430, 41_240, 20, 44];
let database: Awaited<ReturnType<typeof startPostgres>> | undefined;

/** Writes two days, and each CSV file of both days as one file next to the Parquet files of the first day. */
function writeTables(name: string, edition: Edition): void {
  const target = join(folder, name);
  writeClosedArchive({
    ...{ before: at(2, 0), days: 2, faults, edition },
    write: (path, bytes) => {
      if (!/^days\/.*\/labels-(?:totals|by-hour)\./.test(path)) return;
      mkdirSync(dirname(join(target, path)), { recursive: true });
      writeFileSync(join(target, path), bytes);
    },
  });
  for (const file of readdirSync(join(target, 'days', day))) {
    const bytes = readFileSync(join(target, 'days', day, file));
    const second = readFileSync(join(target, 'days', '2026-11-21', file));
    if (!file.endsWith('.csv')) cpSync(join(target, 'days', day, file), join(target, file));
    else writeFileSync(join(target, file), Buffer.concat([bytes, second.subarray(second.indexOf('\n') + 1)]));
  }
}

beforeAll(async () => {
  writeTables('current', currentEdition);
  writeTables('older', firstEdition);
  await installPackages();
  database = await startPostgres();
});
afterAll(async () => {
  await database?.stop();
  rmSync(folder, { recursive: true });
});

function environment(zone: string): NodeJS.ProcessEnv {
  const { host, port, user, database: name } = database?.client ?? {};
  const server = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: name };
  // A tool that starts for the first time creates these directories, and may fail if another process does so meanwhile.
  const [data, cache] = ['data', 'cache'].map((kind) => join(folder, kind, zone));
  return { TZ: zone, PGTZ: zone, ...server, XDG_DATA_HOME: data, XDG_CACHE_HOME: cache };
}

type Verdict = 'right' | 'wrong' | 'refused';

/** Returns whether a printed mean is right. Text such as `NA`, which is not a number, is a refusal. */
function verdictOf({ command }: FirstCommand, printed: string | null): Verdict {
  const truth = command.includes('.parquet') ? ofFirst / hoursOfFirst : (ofFirst + ofSecond) / hours;
  const found = Number(printed === null || printed === '' ? Number.NaN : printed);
  if (!Number.isFinite(found)) return 'refused';
  return Math.abs(found - truth) < 0.01 ? 'right' : 'wrong';
}

/** Returns the rows of the table of tools in the documentation: the results on the current and the older tables. */
function documented(): Map<string, [now: string, older: string]> {
  const docs = readFileSync(join(root, 'docs/archive.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| ([^|]+?) +\| (right|refused|wrong) +\| (right|refused|wrong) +\|$/gm)];
  return new Map(rows.map(([, tool = '', now = '', older = '']) => [tool, [now, older]]));
}

const means = firstCommands.filter(({ asks }) => asks === 'mean');

describe('the table of tools', () => {
  it('has every tool, at least 28 that are right, and none that is wrong without a word', () => {
    const table = documented();
    expect([...table.keys()]).toEqual(means.map(({ tool }) => tool));
    const now = [...table.values()].map(([result]) => result);
    expect(now.filter((result) => result === 'right').length).toBeGreaterThanOrEqual(28);
    expect(now).not.toContain('wrong');
  });

  it('is below the same commands, apart from those of programs with windows', () => {
    const docs = readFileSync(join(root, 'docs/archive.md'), 'utf8').split('\n');
    const missing = means.filter(({ command }) => !docs.includes(command.replace(/^[gm]awk/, 'awk')));
    expect(missing.map(({ tool }) => tool)).toEqual(['VisiData', 'LibreOffice', 'Vega-Lite']);
  });

  it('has no tool twice', () => {
    expect(new Set(means.map(({ tool }) => tool)).size).toBe(means.length);
  });
});

for (const one of firstCommands) {
  const { tool, asks, command } = one;
  // Is called in a test, when the packages are installed. Cargo, which installs xsv, is not part of the gate.
  const isSkipped = () => isNotInstalled(one) && (process.env.CI === undefined || command.startsWith('xsv '));
  const told = asks === 'mean' ? 'the mean of the observed hours' : 'the sum of each day';
  it(`${tool} prints ${told} in three time zones`, async ({ skip }) => {
    skip(isSkipped(), 'is not installed');
    const printed = await Promise.all(zones.map((zone) => output(command, join(folder, 'current'), environment(zone))));
    if (asks === 'mean') {
      const expected = documented().get(tool)?.[0];
      expect(printed.map((text) => [text, verdictOf(one, text)])).toEqual(printed.map((text) => [text, expected]));
    } else {
      const sums = printed.map((text) => text?.match(/\d{4}-\d\d-\d\d|\b\d{5,}\b/g));
      const isByRow = sums[0]?.[1] === day || sums[0]?.[1] === '2026-11-21';
      const expected = isByRow ? [day, '2026-11-21', ofFirst, ofSecond] : [day, ofFirst, '2026-11-21', ofSecond];
      expect(sums, printed.join('\n')).toEqual(zones.map(() => expected.map(String)));
    }
  });

  if (asks === 'mean') {
    it(`${tool} has the documented result on the tables of older days`, async ({ skip }) => {
      skip(isSkipped(), 'is not installed');
      const printed = await output(onOlderTables(command), join(folder, 'older'), environment('UTC'));
      expect([printed, verdictOf(one, printed)]).toEqual([printed, documented().get(tool)?.[1]]);
    });
  }
}

describe('csv-metadata.json of a month', () => {
  it('is accepted by a validator of CSV on the Web, which reports an altered table', async () => {
    const [served, own] = [join(folder, 'served'), join(folder, 'month')];
    writeClosedArchive({
      ...{ before: at(2, 0), days: 2, faults },
      write: (path, bytes) => {
        mkdirSync(dirname(join(served, path)), { recursive: true });
        writeFileSync(join(served, path), bytes);
      },
    });
    const program = join(root, 'examples/archive_month.py');
    await output(`python3 ${program} ${pathToFileURL(served)} 2026-11 ${own}`, served, {});
    const validate = () => output('csvwvalidate csv-metadata.json', own, {});
    expect(await validate()).toBe('OK');
    const totals = join(own, 'labels-totals.csv');
    const text = readFileSync(totals, 'utf8');
    for (const [before, after] of [
      [',2384,', ',,'],
      [',2384,', ',many,'],
      ['T01:00:00Z', 'T00:00:00Z'],
    ] as const) {
      writeFileSync(totals, text.replace(before, after));
      expect(await validate(), after).not.toBe('OK');
    }
  });
});
