import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { later, unobserved } from '../../harness/archive/month/oracle.ts';
import { labelers, planted } from '../../harness/archive/month/plan.ts';
import { comparedDays, runMonth, type SimulatedMonth } from '../../harness/archive/month/run-month.ts';
import { simulatedCollections } from '../../harness/archive/simulated-hours.ts';
import { parseCsv } from '../../harness/process/csv.ts';
import { computedFiles } from '../../src/archive/compute/compute-files.ts';
import { dayMs, hoursOf } from '../../src/archive/days/calendar.ts';
import { archivedFacts, factNames } from '../../src/archive/days/line.ts';
import { rebuildDay } from '../../src/archive/upkeep.ts';

/**
 * Thirty simulated days with every injected fault: gaps of sources, of the instruments and of the archiver, late
 * corrections, holds, lost stores and files, kills, full disks, and planted identities. The oracle computes
 * independently what must be archived.
 */

interface Gap {
  readonly source: string;
  readonly fact?: string;
  readonly scope?: string;
  readonly labeler_did?: string;
  readonly host?: string;
  readonly collection?: string;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
}

const days = comparedDays();
const folder = mkdtempSync(join(tmpdir(), 'almanac-month-'));
let month: SimulatedMonth;
let connection: DuckDBConnection;

beforeAll(async () => {
  month = await runMonth();
  for (const [path, bytes] of month.archive.content) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => {
  connection.closeSync();
  rmSync(folder, { recursive: true });
});

const textOf = (day: string, name: string): string =>
  month.archive.content.get(`days/${day}/${name}`)?.toString('utf8') ?? '';
const gapsOf = (day: string): Gap[] => (JSON.parse(textOf(day, 'gaps.json')) as { gaps: Gap[] }).gaps;

async function query(sql: string): Promise<string[][]> {
  const rows = (await connection.runAndReadAll(sql.replaceAll("'days/", `'${folder}/days/`))).getRowsJson();
  return rows.map((row) => row.map((value) => (value === null ? '' : String(value))));
}

/**
 * Returns the rows of a table as DuckDB reads the file in the given format, with times formatted as in the CSV file.
 */
function tableOf(day: string, name: string, format: 'csv' | 'parquet'): Promise<string[][]> {
  if (format === 'csv')
    return query(`SELECT * FROM read_csv('days/${day}/${name}.csv', all_varchar = true, header = true)`);
  const hour = name === 'labels-labelers' ? '' : ", strftime(hour, '%Y-%m-%dT%H:%M:%SZ') AS hour";
  return query(`SELECT * REPLACE (CAST(day AS VARCHAR) AS day${hour}) FROM 'days/${day}/${name}.parquet'`);
}

/** Returns a flag for each second of a day: 1 if one of the gaps covers it. */
function secondsIn(day: string, gaps: readonly Gap[]): Uint8Array {
  const covered = new Uint8Array(dayMs / 1000);
  const second = (text: string): number => (Date.parse(text) - Date.parse(day)) / 1000;
  for (const { start, end } of gaps) covered.fill(1, Math.floor(second(start)), Math.ceil(second(end)));
  return covered;
}

const startsOf = (day: string): number[] => hoursOf(day).map((hour) => Date.parse(hour));

describe('thirty simulated days with every injected fault', () => {
  it('are closed in order, no earlier than 48 hours after their end, and pass verification', async () => {
    expect([...month.closedAt.keys()].slice(0, days.length)).toEqual(days);
    for (const [day, at] of month.closedAt) expect(at, day).toBeGreaterThanOrEqual(Date.parse(day) + 3 * dayMs);
    expect((await month.archive.verify()).findings).toEqual([]);
    expect(month.kills).toBeGreaterThan(10);
    expect(month.fullDisks).toBeGreaterThan(3);
  });

  it.each(['csv', 'parquet'] as const)('have tables that match the oracle hour by hour (%s)', async (format) => {
    for (const day of days) {
      expect(await tableOf(day, 'weather-totals', format), day).toEqual(month.oracle.totalRows(day));
      expect(await tableOf(day, 'weather-collections', format), day).toEqual(month.oracle.collectionRows(day));
      expect(await tableOf(day, 'weather-other-hosts', format), day).toEqual(month.oracle.otherRows(day));
      expect(await tableOf(day, 'labels-totals', format), day).toEqual(month.oracle.labelRows(day));
      expect(await tableOf(day, 'labels-sources', format), day).toEqual(month.oracle.sourceRows(day));
      expect(await tableOf(day, 'labels-labelers', format), day).toEqual(month.oracle.labelerRows(day));
    }
  });

  it('have weather rows in CSV that equal, as text, the rows that DuckDB reads from the Parquet files', async () => {
    for (const day of days) {
      const [, ...rows] = parseCsv(textOf(day, 'weather-collections.csv'), '\n');
      expect(rows, day).toEqual(await tableOf(day, 'weather-collections', 'parquet'));
    }
  });

  it('never have a row for an unobserved hour, and state a gap for each second that is not observed', async () => {
    const rows = async (sql: string) => (await query(sql))[0];
    for (const table of ['weather-totals', 'weather-collections', 'labels-totals', 'labels-labelers']) {
      expect(await rows(`SELECT count(*) FROM 'days/*/${table}.parquet' WHERE observed_seconds <= 0`)).toEqual(['0']);
    }
    for (const day of days) {
      for (const name of ['weather', 'labels']) {
        const seconds = await rows(
          `SELECT (SELECT coalesce(sum(observed_seconds), 0) FROM 'days/${day}/${name}-totals.parquet')
                + (SELECT coalesce(sum(seconds), 0) FROM 'days/${day}/${name}-gaps.parquet' WHERE scope = 'all')`,
        );
        expect(seconds, `${day} ${name}`).toEqual(['86400']);
      }
      for (const collection of [null, ...simulatedCollections]) {
        const seconds = await rows(
          `SELECT coalesce(sum(seconds), 0) FROM 'days/${day}/weather-gaps.parquet' WHERE scope = '${collection ?? 'all'}'`,
        );
        expect(seconds, `${day} ${collection}`).toEqual([String(month.oracle.weatherGapSeconds(day, collection))]);
      }
    }
    const reasons = await query("SELECT DISTINCT reason FROM 'days/*/*-gaps.parquet'");
    expect(reasons.flat()).toEqual(expect.arrayContaining(['incomplete', 'missing', 'held', 'silent']));
  });

  it('list in the gap manifest exactly the unobserved seconds of the weather, by host and collection', () => {
    for (const day of days) {
      const gaps = gapsOf(day);
      const unknown = secondsIn(
        day,
        gaps.filter(({ fact }) => fact === 'weather-hours'),
      );
      const hosts = month.oracle.hostsOf(day);
      for (const [hour, start] of startsOf(day).entries()) {
        const stated = new Uint8Array(3_600);
        for (const host of hosts) {
          const own = gaps.filter((gap) => gap.host === host);
          for (const collection of [null, ...simulatedCollections]) {
            const kinds = month.oracle.weatherSeconds(host, start, collection);
            const covered = secondsIn(
              day,
              own.filter((gap) => gap.collection === undefined || gap.collection === collection),
            );
            for (const [second, kind] of (kinds ?? []).entries()) {
              if (kind === later) continue;
              stated[second] = 1;
              if ((covered[hour * 3_600 + second] === 1) !== (kind === unobserved)) {
                expect.unreachable(`${host} ${collection} ${new Date(start + second * 1000).toISOString()}`);
              }
            }
          }
        }
        for (const [second, is] of stated.entries()) {
          if (unknown[hour * 3_600 + second] === is) {
            expect.unreachable(`the file of ${new Date(start + second * 1000).toISOString()}`);
          }
        }
      }
    }
  });

  it('list in the gap manifest exactly the unobserved seconds of the label instrument and of each labeler', () => {
    for (const day of days) {
      const gaps = gapsOf(day).filter(({ source }) => source !== 'publication');
      const unknown = secondsIn(
        day,
        gaps.filter(({ fact }) => fact === 'labels-hours'),
      );
      const instrument = gaps.filter(({ scope }) => scope === 'instrument');
      for (const did of [null, ...labelers.map((one) => one.did)]) {
        const covered = secondsIn(day, [
          ...instrument,
          ...gaps.filter((gap) => did !== null && gap.labeler_did === did),
        ]);
        for (const [hour, start] of startsOf(day).entries()) {
          const kinds = month.oracle.labelSeconds(did, start);
          for (let second = 0; second < 3_600; second += 1) {
            const at = hour * 3_600 + second;
            const kind = kinds?.[second] ?? later;
            const isRight = kind === later || (covered[at] === 1) === (kind === unobserved);
            const isKnown = did !== null || (unknown[at] === 1) === (kind === later);
            if (!isRight || !isKnown) expect.unreachable(`${did} ${new Date(start + second * 1000).toISOString()}`);
          }
        }
      }
    }
  });

  it('list in the gap manifest exactly the hours in which a fact was refused or not archived', () => {
    for (const day of days) {
      for (const name of factNames) {
        const own = gapsOf(day).filter(({ fact }) => fact === name);
        const expected = hoursOf(day).flatMap((hour) => {
          const outcome = month.outcomes.get(`${archivedFacts[name]} ${hour}`);
          return outcome === 200 ? [] : [[hour, outcome ?? 'not_archived']];
        });
        const found = hoursOf(day).flatMap((hour) => {
          const gap = own.find(({ start, end }) => start <= hour && hour < end);
          return gap ? [[hour, gap.reason]] : [];
        });
        expect(
          found.map(([hour]) => hour),
          `${day} ${name}`,
        ).toEqual(expected.map(([hour]) => hour));
        for (const [place, [, reason]] of found.entries()) {
          const [, outcome] = expected[place] ?? [];
          if (typeof outcome === 'number')
            expect(['source_held', 'source_stale', `status_${outcome}`]).toContain(reason);
          // Accept `not_archived`, because a restarted process has no record of earlier failures.
          else expect(outcome === 'unreachable' ? ['unreachable', 'not_archived'] : [outcome]).toContain(reason);
        }
      }
    }
    const reasons = new Set(days.flatMap(gapsOf).map(({ reason }) => reason));
    for (const reason of [
      'not_archived',
      'incomplete',
      'missing',
      'held',
      'unreachable',
      'withheld',
      'silent',
      'source_stale',
    ]) {
      expect(reasons).toContain(reason);
    }
  });

  it('can be rebuilt byte for byte from the retained inputs', () => {
    const { content, files } = month.archive;
    const before = new Map(content);
    for (const day of days) {
      for (const name of computedFiles) content.delete(`days/${day}/${name}`);
      const results = rebuildDay(files, day, () => null).map(({ result }) => result);
      expect(new Set(results), day).toEqual(new Set(['restored', 'identical']));
    }
    expect(new Map(content)).toEqual(before);
  });

  it('do not contain the planted identities', async () => {
    const words = [planted.did.slice(8), 'planted-person'];
    for (const [path, bytes] of month.archive.content) {
      for (const word of words) expect(bytes.includes(word), `${word} in ${path}`).toBe(false);
    }
    const texts = await query(
      "SELECT host FROM 'days/*/weather-totals.parquet' UNION SELECT host FROM 'days/*/weather-other-hosts.parquet' UNION SELECT labeler_did FROM 'days/*/labels-labelers.parquet' UNION SELECT scope FROM 'days/*/labels-gaps.parquet' WHERE scope <> 'all'",
    );
    expect(texts.flat().sort()).toEqual(
      ['backup.example', 'jetstream.example', ...labelers.map(({ did }) => did)].sort(),
    );
    const alarms = month.archive.messages.filter(({ message }) => message.includes('contains an identity'));
    expect(alarms.length).toBeGreaterThanOrEqual(9);
  });
});
