import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isMissing, run, serveArchive } from '../../harness/archive/downloads.ts';
import { type SimulatedArchive, simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { parseCsv } from '../../harness/process/csv.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { hourMs } from '../../src/archive/days/calendar.ts';
import { tables } from '../../src/archive/tables/columns.ts';

/** Runs the examples in docs/archive.md against a served archive with two closed days and a gap. */

const docs = readFileSync(join(root, 'docs/archive.md'), 'utf8');
const days = ['2026-11-20', '2026-11-21'];
const gap = { start: simulatedStart + 5 * hourMs, end: simulatedStart + 7.5 * hourMs };
let archive: SimulatedArchive = simulateArchive();

beforeAll(async () => {
  archive = simulateArchive({ hours: (now) => simulatedHours(now, { weather: [gap], labels: [gap] }) });
  await archive.run(24 * 4 + 1);
});

/** Serves the archive until the test ends. */
const serveInTest = (refuse?: Parameters<typeof serveArchive>[1]) => serveArchive(archive.content, refuse);

/** Returns the code of the only example in a language whose code contains `text`. */
function example(language: string, text = ''): string {
  const found = [...docs.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  const codes = found.flatMap(([, code = '']) => (code.includes(text) ? [code] : []));
  expect(codes).toHaveLength(1);
  return codes[0] ?? '';
}

const namesIn = (folder: string, extension: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(extension));

describe('an example in docs/archive.md', () => {
  it.skipIf(isMissing('curl'))('downloads the tables of a month with curl', async () => {
    const [folder, { url }] = [folderInTest(), await serveInTest()];
    const script = example('sh', 'index.json').replace('https://observatory.example/archive', url);
    expect(await run('sh', ['-euc', script], folder)).toMatchObject({ code: 0 });
    expect(namesIn(folder, 'weather-totals.csv').length).toBeGreaterThanOrEqual(days.length);
    for (const day of days) {
      const path = `days/${day}/weather-totals.csv`;
      expect(readFileSync(join(folder, path)).equals(archive.content.get(path) ?? Buffer.alloc(0))).toBe(true);
    }
  });

  it.skipIf(isMissing('curl'))('names a file that arrives incomplete, in the download with curl', async () => {
    const path = `days/${days[0]}/gaps.json`;
    const whole = archive.content.get(path) ?? Buffer.alloc(0);
    onTestFinished(() => void archive.content.set(path, whole));
    archive.content.set(path, whole.subarray(0, whole.length >> 1));
    const { url } = await serveInTest();
    const script = example('sh', 'index.json').replace('https://observatory.example/archive', url);
    const { code, output } = await run('sh', ['-euc', script], folderInTest());
    expect([code, output]).toEqual([1, expect.stringContaining('gaps.json: FAILED')]);
  });

  it('returns a file with fetch, and rejects one that ends early, although fetch reports it as complete', async () => {
    type ArchiveFile = (base: string, day: string, name: string) => Promise<ArrayBuffer>;
    const archiveFile = runInThisContext(`(${example('js', 'archiveFile')})`) as ArchiveFile;
    const [day = ''] = days;
    const path = `days/${day}/labels-labelers.csv`;
    const whole = archive.content.get(path) ?? Buffer.alloc(0);
    const { url } = await serveInTest();
    expect(Buffer.from(await archiveFile(url, day, 'labels-labelers.csv')).equals(whole)).toBe(true);
    const proxy = createServer((request, response) => {
      const asked = (request.url ?? '').replace('/archive/', '');
      const coded = gzipSync(archive.content.get(asked) ?? Buffer.alloc(0));
      const part = asked === path ? coded.subarray(0, coded.length >> 1) : coded;
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(part);
    });
    const base = `http://127.0.0.1:${(await listenForTest(proxy)).port}/archive`;
    const received = await (await fetch(`${base}/${path}`)).text();
    expect(received).not.toBe('');
    expect(whole.toString('utf8').startsWith(received)).toBe(true);
    expect(received.length).toBeLessThan(whole.length);
    await expect(archiveFile(base, day, 'labels-labelers.csv')).rejects.toThrow(`${path} does not match its digest`);
    // The rows of the other files are complete.
    await expect(archiveFile(base, day, 'gaps.json')).resolves.toBeDefined();
  });

  it.skipIf(isMissing('curl') || isMissing('python3'))(
    'requests only the same file again, after the stated delay, if the service is busy or limits the rate',
    async () => {
      const script = (url: string) => example('sh', 'index.json').replace('https://observatory.example/archive', url);
      const programs: ((url: string) => readonly [string, readonly string[]])[] = [
        (url) => ['sh', ['-euc', script(url)]],
        (url) => ['python3', [join(root, 'examples/archive_month.py'), url, '2026-11', '.']],
      ];
      for (const program of programs) {
        const plain = await serveInTest();
        await run(...program(plain.url), folderInTest());
        const refusals = [2, 5];
        const times: number[] = [];
        const busy = await serveInTest((count, response) => {
          times.push(performance.now());
          if (!refusals.includes(count)) return false;
          response.writeHead(count === 5 ? 429 : 503, { 'Retry-After': '2' }).end();
          return true;
        });
        expect(await run(...program(busy.url), folderInTest())).toMatchObject({ code: 0 });
        expect(busy.paths.filter((_, at) => !refusals.includes(at + 1))).toEqual(plain.paths);
        for (const count of refusals) {
          expect(busy.paths[count]).toBe(busy.paths[count - 1]);
          // A timer may be a few milliseconds early.
          expect((times[count] ?? 0) - (times[count - 1] ?? 0)).toBeGreaterThan(1_900);
        }
      }
    },
  );

  it.skipIf(isMissing('curl') || isMissing('jq'))('reads one hour with curl and jq', async () => {
    const { url } = await serveInTest();
    const script = example('sh', 'weather-metrics.jsonl').replace('$base', url);
    const { code, output } = await run('sh', ['-euc', script], root);
    expect([code, output]).toEqual([0, expect.stringMatching(/^200\n\{/)]);
  });

  it.skipIf(isMissing('python3'))(
    'downloads the closed days of a month only once with Python, and refuses a file that does not match its digest',
    async () => {
      const [folder, { url, paths }] = [folderInTest(), await serveInTest()];
      const args = [join(root, 'examples/archive_month.py'), url, '2026-11', folder];
      const printed = (await run('python3', args, root)).output.split('\n').filter(Boolean);
      expect(printed).toHaveLength(days.length + 1);
      expect(printed).toContainEqual(expect.stringMatching(`^2026-11: ${days.length} closed days of 30; \\d+ open`));
      expect(namesIn(folder, '.parquet')).toHaveLength(days.length * tables.length);
      const requested = paths.length;
      await run('python3', args, root);
      expect(paths.slice(requested)).toEqual(['index.json', ...days.map((day) => `days/${day}/withdrawn.json`)]);
      const altered = `days/${days[0]}/labels-totals.csv`;
      const before = archive.content.get(altered) ?? Buffer.alloc(0);
      onTestFinished(() => void archive.content.set(altered, before));
      archive.content.set(altered, Buffer.from('altered'));
      const fresh = await run('python3', [...args.slice(0, 3), folderInTest()], root);
      expect(fresh).toMatchObject({
        code: 1,
        output: expect.stringContaining('labels-totals.csv of 2026-11-20 does not match'),
      });
    },
  );

  it.skipIf(isMissing('python3'))(
    'reports a month without a day, incorrect arguments and an address without an archive in one line each',
    async () => {
      const { url } = await serveInTest();
      const call = (...args: string[]) => run('python3', [join(root, 'examples/archive_month.py'), ...args], root);
      expect(await call(url, '2026-10', folderInTest())).toEqual({
        code: 0,
        output: '2026-10: 0 closed days of 31; 0 open, which still change; 31 not in the archive\n',
      });
      expect(await call()).toEqual({ code: 1, output: expect.stringMatching(/^usage: .*\n$/) });
      expect(await call(`${url}/nowhere`, '2026-11', folderInTest())).toEqual({
        code: 1,
        output: expect.stringMatching(/^archive_month: http:.*; there is no archive at this address, .*\n$/),
      });
    },
  );

  it('queries the Parquet files with DuckDB, with the same result as the CSV files', async () => {
    const folder = folderInTest();
    for (const [path, bytes] of archive.content) {
      if (!days.some((day) => path.startsWith(`days/${day}/`))) continue;
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    onTestFinished(() => connection.closeSync());
    const query = async (sql: string) =>
      (await connection.runAndReadAll(sql.replaceAll("'days/", `'${folder}/days/`))).getRowsJson();
    const expected = days.map((day) => {
      const [, ...rows] = parseCsv(archive.content.get(`days/${day}/weather-totals.csv`)?.toString('utf8') ?? '', '\n');
      const sum = (place: number): number => rows.reduce((total, row) => total + Number(row[place]), 0);
      return [day, String(sum(2)), sum(3) / 3600];
    });
    expect(await query(example('sql'))).toEqual(expected);
    expect(expected[0]?.[2]).toBe(21.5);
    for (const { name, columns } of tables) {
      const described = await query(`DESCRIBE SELECT * FROM 'days/*/${name}.parquet'`);
      expect(described.map(([column]) => column)).toEqual(columns.map((column) => column.name));
      const parquet = await query(`SELECT count(*) FROM 'days/*/${name}.parquet'`);
      const csv = await query(`SELECT count(*) FROM read_csv('days/*/${name}.csv')`);
      expect(parquet).toEqual(csv);
    }
    expect(await query("SELECT count(*) FROM 'days/*/weather-totals.parquet'")).toEqual([['46']]);
  });
});

it('one year of an archive takes at most 300 MB with as many labelers as the network has', async () => {
  const labelers = Array.from(
    { length: 700 },
    (_, index) =>
      `did:plc:${index
        .toString()
        .replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
        .padStart(24, 'z')}`,
  );
  const large = simulateArchive({ hours: (now) => simulatedHours(now, { labelers }) });
  await large.tickAt(simulatedStart);
  await large.tickAt(simulatedStart + 25 * hourMs);
  const path = (name: string): string => `days/2026-11-20/${name}`;
  expect(large.content.get(path('labels-labelers.csv'))?.toString('utf8').split('\n')).toHaveLength(702);
  const bytes = [...large.content].filter(([name]) => name.startsWith(path('')) && !name.endsWith('.jsonl'));
  const perYear = 365 * bytes.reduce((total, [, { length }]) => total + length, 0);
  // The facts API currently responds with at most 15 kB an hour, which is 130 MB a year.
  expect(perYear).toBeLessThan(170_000_000);
});
