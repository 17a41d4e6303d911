import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { alive, partsOf } from '../../harness/process/process-tree.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { targetOf } from '../../src/store/label.ts';
import { openStoreReader } from '../../src/store/open.ts';

/** Tests the demo as a visitor starts it, without any existing data. */

interface Gap {
  readonly start: string;
  readonly source: string;
  readonly reason: string;
}

let folder = '';
let demo: Server;
/** Start of the hour in which the demo was started, in milliseconds since 1970. */
let startHour = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-demo-test-'));
  startHour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  demo = await startDemo(join(folder, 'demo'));
});
afterAll(async () => {
  await demo.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startDemo(data: string): Promise<Server> {
  return startServer(['demo', '--data', data, '--port', '0', '--account-port', '0']);
}

async function fact(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(demo.url + path);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

/**
 * Returns true if a program is missing and its test must be skipped. In CI, a missing program makes the test fail
 * instead.
 */
function isMissing(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  return process.env.CI === undefined && !folders.some((one) => existsSync(join(one, name)));
}

const factPaths = ['/v1/labels/overview', '/v1/weather/conditions', '/v1/weather/metrics'];
const patient = { timeout: 120_000, interval: 100 };
const within = { timeout: 400_000 };

describe('almanac demo', within, () => {
  it.each(factPaths)('serves %s immediately, marked as simulated', async (path) => {
    expect(await fact(path)).toMatchObject({
      provenance: { origin: 'simulated' },
      caveats: expect.arrayContaining([expect.stringMatching(/simulated network/)]),
    });
  });

  it('publishes weather with a baseline, a day of windows, and an unobserved period within that day', async () => {
    const { facts } = await fact('/v1/weather/conditions');
    expect(facts).toMatchObject({
      conditions: { confidence: 'supported', state: expect.not.stringMatching(/unavailable|station_offline/) },
      window: { span_seconds: 86_400, observed_windows: 1421, unobserved_windows: 19 },
    });
  });

  it('publishes a label window with a warm-up and gaps, and labelers in several states', async () => {
    await vi.waitFor(async () => {
      const { facts, freshness } = (await fact('/v1/labels/overview')) as {
        facts: { coverage: { gaps: readonly unknown[] } };
        freshness: unknown;
      };
      expect(freshness).toMatchObject({ state: 'warming_up' });
      expect(facts).toMatchObject({
        labeler_count: 11,
        coverage: {
          observed_days: 23,
          warmup: { reason: 'not_observed' },
          sources: { enrolled: 11, established: 10, unavailable: 1 },
        },
      });
      const reasons = (facts.coverage.gaps as readonly { reason: string }[]).map(({ reason }) => reason);
      expect(reasons).toEqual(expect.arrayContaining(['maintenance', 'ingest_paused', 'source_unavailable']));
      expect(reasons).not.toContain('cursor_reset');
    }, patient);
  });

  it('continues from the end of its history without a gap', async () => {
    const weather = () => demo.log().filter(({ name }) => name === 'weather');
    await vi.waitFor(
      () => expect(weather()).toContainEqual(expect.objectContaining({ msg: 'connected', from: 'cursor' })),
      patient,
    );
    expect(weather().filter(({ msg }) => msg === 'part of the stream was not observed')).toEqual([]);
  });

  it('lists the pages of the labelers and of the archive', async () => {
    const pages = demo.stdout.flatMap((line) => /^(labelers|archive) +(http\S+)$/.exec(line)?.slice(1) ?? []);
    expect(pages.filter((_, at) => at % 2 === 0)).toEqual(['labelers', 'archive']);
    // The page of the archive responds with 503 until the archive is read, which can take longer than the start waits.
    for (const url of pages.filter((_, at) => at % 2 === 1))
      await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), patient);
  });

  it('lists sample accounts whose labels match their descriptions', async () => {
    const named = demo.stdout.flatMap((line) => [...line.matchAll(/^account {2}\S+\?did=(did:\S+) {2}(.+)$/g)]);
    const store = await openStoreReader(`sqlite:${join(folder, 'demo', 'labels')}`);
    try {
      const { floor: start, end } = await store.frontier();
      const seen = new Map<string, { targets: Set<string>; labelers: number; removed: boolean; posts: number }>();
      for (const [, account = '', shows = ''] of named) {
        const query = { account, start, end, order: 'oldest', after: null, limit: 500 } as const;
        const labels = (await store.readAccount(query)).rows.map(({ label }) => label);
        seen.set(shows, {
          targets: new Set(labels.map(({ uri }) => targetOf(uri))),
          labelers: new Set(labels.map(({ src }) => src)).size,
          removed: labels.some(({ neg }) => neg),
          posts: labels.filter(({ uri }) => targetOf(uri) === 'post').length,
        });
      }
      expect([...seen.keys()]).toEqual([
        'labels on the account itself and on posts, and a removal',
        'many labels on posts',
        'labels of several labelers',
        'none observed',
      ]);
      const [first, many, several, none] = seen.values();
      expect([...(first?.targets ?? [])]).toEqual(expect.arrayContaining(['account', 'post']));
      expect(first?.removed).toBe(true);
      expect(many?.posts).toBeGreaterThan(20);
      expect(several?.labelers).toBeGreaterThan(1);
      expect(none?.targets.size).toBe(0);
      for await (const { problems } of store.verify()) expect(problems).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it('prints the full address of each sample account’s page, and links the same pages from the start page of the account view', async () => {
    const service = /^almanac account listening on (\S+)$/m.exec(demo.stdout.join('\n'))?.[1] ?? '';
    const printed = demo.stdout.flatMap((line) => /^account {2}(\S+) {2}/.exec(line)?.[1] ?? []);
    expect(printed.map((url) => url.split('?did=')[0])).toEqual(Array(4).fill(`${service}/account`));
    for (const url of printed) expect((await fetch(url)).status, url).toBe(200);
    const home = await (await fetch(`${service}/`)).text();
    const linked = [...home.matchAll(/href="(\/account\?did=[^"]+)"/g)].map(([, path = '']) => service + path);
    expect(linked.map(decodeURIComponent)).toEqual(printed);
  });

  it('serves the observations of a sample account, and marks the export as simulated', async () => {
    const url = /^almanac account listening on (\S+)$/m.exec(demo.stdout.join('\n'))?.[1] ?? '';
    const [, did = ''] = demo.stdout.flatMap((line) => /^account {2}\S+\?did=(did:\S+) {2}/.exec(line)?.[1] ?? []);
    const created = await fetch(`${url}/exports?did=${did}&days=30`);
    const { manifest, cursor } = (await created.json()) as { manifest: unknown; cursor: string };
    expect([created.status, manifest]).toMatchObject([200, { account: did, origin: 'simulated', clipped: true }]);
    const page = (await (await fetch(`${url}/exports?cursor=${cursor}`)).json()) as { rows: readonly unknown[] };
    expect(page.rows.length).toBeGreaterThan(50);
    expect(page).toMatchObject({ manifest: { origin: 'simulated' } });
  });

  it('marks the observatory page and the account pages as simulated, and links the observatory to the accounts', async () => {
    const page = await (await fetch(`${demo.url}/`)).text();
    expect(page).toMatch(/class="banner"[^>]*>[^<]*simulated network/);
    const links = [...page.matchAll(/href="([^"]+\/account\?did=[^"]+)"/g)].map(([, href = '']) =>
      href.replace('&amp;', '&'),
    );
    expect(links).toHaveLength(4);
    const [first = ''] = links;
    for (const url of [first, `${new URL(first).origin}/`, `${new URL(first).origin}/account?did=nobody`]) {
      const html = await (await fetch(url)).text();
      expect(html, url).toMatch(/class="banner"[^>]*>[^<]*simulated network/);
      expect(html, url).toMatch(/<title>\[simulated\] /);
    }
  });

  it('runs each part and the simulated network in a separate process', async () => {
    const parts = ['account', 'facts', 'labels', 'sim', 'weather'];
    // Exclude the archiver, which starts only after the archive of the past has been written.
    expect([...partsOf(demo).keys()].filter((name) => name !== 'archive').sort()).toEqual(parts);
  });
});

/** Time within which the archive of the past is written, even on a busy machine. */
const archived = { timeout: 400_000, interval: 500 };

describe('the archive of a demo', { timeout: 500_000 }, () => {
  const file = async (path: string): Promise<string> => (await fetch(`${demo.url}/archive/${path}`)).text();
  const days = async () => (JSON.parse(await file('index.json')) as { days: { day: string; state: string }[] }).days;
  const dayAgo = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);

  it('is marked as simulated on its page, in the manifest of its first day and in an archived response', async () => {
    await vi.waitFor(async () => {
      const page = await (await fetch(`${demo.url}/archive`)).text();
      expect(page).toMatch(/class="banner"[^>]*>[^<]*simulated network/);
      expect(page).toMatch(
        /<title>\[simulated\] .*<meta name="robots" content="noindex|noindex.*<title>\[simulated\] /s,
      );
    }, patient);
    const [first] = await days();
    expect(JSON.parse(await file(`days/${first?.day}/gaps.json`))).toMatchObject({
      known_issues: [{ id: 'simulated', summary: expect.stringContaining('simulated network') }],
    });
    const [line = ''] = (await file(`days/${first?.day}/weather-metrics.jsonl`)).split('\n');
    expect(JSON.parse(line)).toMatchObject({ status: 200, body: { provenance: { origin: 'simulated' } } });
  });

  it('has eight closed days and the current day, which the archiver of the demo continues', async () => {
    await vi.waitFor(() => expect(partsOf(demo).has('archive')).toBe(true), archived);
    await vi.waitFor(async () => {
      const lines = (await file(`days/${dayAgo(0)}/weather-metrics.jsonl`)).trim().split('\n');
      const { hour = '' } = JSON.parse(lines.at(-1) ?? '{}') as { hour?: string };
      expect(Date.now() - Date.parse(hour)).toBeLessThan(3_600_000);
    }, patient);
    const listed = await days();
    expect(listed.map(({ day }) => day)).toEqual(Array.from({ length: 11 }, (_, at) => dayAgo(10 - at)));
    expect(listed.map(({ state }) => state)).toEqual([...Array(8).fill('closed'), 'open', 'open', 'open']);
  });

  it('is intact, and states the gaps of both instruments and a refusal', async () => {
    const verified = startProgramInTest(['archive', 'verify', `${demo.url}/archive/`]);
    expect(await verified.ended()).toBe(0);
    expect(verified.stdout.join('\n')).toMatch(/^8 closed days, 3 open days\n.*^intact:/ms);
    const listed = await days();
    const gaps = await Promise.all(listed.map(({ day }) => file(`days/${day}/gaps.json`)));
    const all = gaps.flatMap((text) => (JSON.parse(text) as { gaps: Gap[] }).gaps);
    // Exclude gaps since the start of that hour, because the demo observes only a part of the hour in which it starts.
    const reasons = all.filter(({ start }) => Date.parse(start) < startHour);
    expect(new Set(reasons.map(({ source, reason }) => `${source} ${reason}`))).toEqual(
      new Set([
        'labels ingest_paused',
        'labels not_observed',
        'labels source_unavailable',
        'publication source_stale',
        'weather not_observed',
      ]),
    );
  });

  it.skipIf(isMissing('curl'))('can be downloaded and queried with the examples of the documentation', async () => {
    const target = join(folder, 'download');
    mkdirSync(target);
    const docs = readFileSync(join(root, 'docs/archive.md'), 'utf8');
    const [, script = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(docs) ?? [];
    const [, sql = ''] = /^```sql\n([\s\S]*?)^```$/m.exec(docs) ?? [];
    const month = dayAgo(4).slice(0, 7);
    const own = script.replace('https://observatory.example', demo.url).replace('days=2026-11', `days=${month}`);
    await promisify(execFile)('sh', ['-euc', own], { cwd: target });
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    onTestFinished(() => connection.closeSync());
    const rows = (await connection.runAndReadAll(sql.replaceAll("'days/", `'${target}/days/`))).getRowsJson();
    // Exclude the current day, because tables contain only completed hours, and it may not have any.
    const ended = (await days()).map(({ day }) => day).filter((day) => day.startsWith(month) && day < dayAgo(0));
    expect(rows.map(([day]) => String(day).slice(0, 10)).filter((day) => day < dayAgo(0))).toEqual(ended);
    const [, events, hours] = rows.find(([day]) => String(day).startsWith(dayAgo(4))) ?? [];
    expect([Number(events) > 500_000, hours]).toEqual([true, 24]);
  });
});

describe('the data of a demo', within, () => {
  it('is not deleted by a second demo that starts in the same directory or on the same ports', async () => {
    const data = join(folder, 'demo');
    const before = readdirSync(data);
    await expect(startDemo(data)).rejects.toThrow(/a demo is running in .*demo; stop it first/);
    const { port } = new URL(demo.url);
    const other = join(folder, 'other-demo');
    await expect(startServer(['demo', '--data', other, '--port', port])).rejects.toThrow(/the port is in use.*--port/);
    const metrics = ['--metrics-port', String(Number(port) - 4)];
    await expect(
      startServer(['demo', '--data', other, '--port', '0', '--account-port', '0', ...metrics]),
    ).rejects.toThrow(/:\d+: the port is in use; choose another with --metrics-port/);
    await expect(startServer(['demo', '--data', other, '--port', '0', '--account-port', port])).rejects.toThrow(
      /the port is in use.*--account-port/,
    );
    expect(existsSync(other)).toBe(false);
    expect(readdirSync(data)).toEqual(before);
  });

  it('is discarded if --data is not given and a signal arrives while its history is being written', async () => {
    const temporary = join(folder, 'interrupted');
    mkdirSync(temporary);
    const env = { TMPDIR: temporary };
    const program = startProgramInTest(['demo', '--port', '0', '--account-port', '0'], { env });
    const stores = (): string[] => readdirSync(temporary).filter((name) => existsSync(join(temporary, name, 'labels')));
    await vi.waitFor(() => expect(stores()).toHaveLength(1), patient);
    const [data = ''] = stores();
    program.child.kill('SIGINT');
    expect(await program.ended()).toBe(0);
    expect(program.stdout.join('\n')).not.toContain('listening');
    expect(existsSync(join(temporary, data))).toBe(false);
  });

  it('remains, but no process of the demo does, after the demo was killed', async () => {
    const pids = [...partsOf(demo).values()];
    expect(pids.length).toBeGreaterThan(4);
    demo.child.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), patient);
    expect(readdirSync(join(folder, 'demo'))).toContain('labels');
  });

  it.each([
    ['up', ['--data', 'FOLDER', '--port', '0'], /contains the simulated data of a demo/],
    ['labels', ['--store', 'sqlite:FOLDER/labels', '--artifacts', 'OTHER'], /contains simulated observations/],
  ])('is refused as a data directory by `almanac %s`', async (command, args, why) => {
    const resolved = args.map((word) =>
      word.replace('FOLDER', join(folder, 'demo')).replace('OTHER', join(folder, 'other')),
    );
    await expect(startServer([command, ...resolved])).rejects.toThrow(why);
  });

  it('is replaced at the next start in the same directory, but a start in a directory with other content is refused', async () => {
    const data = join(folder, 'demo');
    for (const parent of [data, join(data, 'labels')]) writeFileSync(join(parent, 'left-over'), '');
    const next = startProgramInTest(['demo', '--data', data, '--port', '0', '--account-port', '0']);
    // The new directory may have the inode number of the old one.
    await vi.waitFor(() => expect(readdirSync(join(data, 'labels'))).not.toContain('left-over'), patient);
    expect(readdirSync(data)).not.toContain('left-over');
    next.child.kill('SIGINT');
    expect(await next.ended()).toBe(0);
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'kept');
    await expect(startDemo(folder)).rejects.toThrow(/contains files that no demo wrote/);
    expect(existsSync(precious)).toBe(true);
  });
});
