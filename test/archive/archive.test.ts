import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type SimulatedArchive, simulateArchive, simulatedKey } from '../../harness/archive/simulated-archive.ts';
import { artifactFolderInTest, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { signerKey } from '../../src/archive/log/note.ts';
import { UrlReader } from '../../src/archive/verify/archive-reader.ts';
import { verifyArchive } from '../../src/archive/verify/verify.ts';
import { artifactNames } from '../../src/artifact/write.ts';

async function factsInTest(): Promise<string> {
  const folder = artifactFolderInTest();
  writeFileSync(join(folder, artifactNames.labels), JSON.stringify(youngArtifact('recent')));
  writeFileSync(join(folder, artifactNames.weather), JSON.stringify(youngArtifact('weather')));
  return (await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening()).url;
}

function writeArchive(folder: string, { content }: SimulatedArchive): void {
  for (const [path, bytes] of content) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/** Returns the archived lines below a directory, by file name. */
function archivedLines(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  return Object.fromEntries(names.map((name) => [name.split('/').at(-1), readFileSync(join(folder, name), 'utf8')]));
}

/** Returns the loaders of an archive by name. */
function loadersIn(archive: string): Record<string, string> {
  const folder = join(archive, 'loaders');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Returns the programs of the package that download, load and draw the tables, by name. */
function packagedLoaders(): Record<string, string> {
  const examples = fileURLToPath(new URL('../../examples', import.meta.url));
  const paths = ['archive_month.py', ...readdirSync(join(examples, 'archive')).map((name) => `archive/${name}`)];
  return Object.fromEntries(paths.map((path) => [basename(path), readFileSync(join(examples, path), 'utf8')]));
}

describe('almanac archive', () => {
  it('archives the responses of a facts service, and continues after a kill without changing the archived lines', async () => {
    const [url, archive] = [await factsInTest(), join(folderInTest(), 'archive')];
    const args = ['archive', '--facts', url, '--archive', archive];
    const first = startProgramInTest(args);
    await first.line(/^almanac archive writing to /);
    await until(
      'the index exists',
      () => statSync(join(archive, 'index.json'), { throwIfNoEntry: false }) !== undefined,
    );
    const lines = archivedLines(archive);
    expect(Object.keys(lines).sort()).toEqual([
      'instruments.jsonl',
      'labels-overview.jsonl',
      'weather-conditions.jsonl',
      'weather-metrics.jsonl',
    ]);
    const line = JSON.parse(lines['weather-metrics.jsonl']?.split('\n')[0] ?? '') as { status: number; body: object };
    expect(line).toMatchObject({ status: 200, body: { contract: 'atproto.facts.weather.metrics/v1' } });
    expect(statSync(`${archive}.key`).mode & 0o777).toBe(0o600);
    const names = readdirSync(archive, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('key'))).toEqual(['log/vkey']);
    const index = JSON.parse(readFileSync(join(archive, 'index.json'), 'utf8')) as { key: string };
    expect(readFileSync(join(archive, 'log/vkey'), 'utf8')).toBe(`${index.key}\n`);
    await first.kill();
    const second = startProgramInTest(args);
    await second.line(/^almanac archive writing to /);
    expect(await second.stop()).toBe(0);
    const kept = archivedLines(archive);
    for (const [name, text] of Object.entries(lines)) expect(kept[name]?.startsWith(text), name).toBe(true);
    expect(loadersIn(archive)).toEqual(packagedLoaders());
    const verified = startProgramInTest(['archive', 'verify', archive]);
    expect(await verified.ended()).toBe(0);
    expect(verified.stdout.join('\n')).toContain('warning: first contact');
  });

  it('does not start in a directory in which another archiver is running', async () => {
    const [url, archive] = [await factsInTest(), join(folderInTest(), 'archive')];
    const args = ['archive', '--facts', url, '--archive', archive];
    await startProgramInTest(args).line(/^almanac archive writing to /);
    const second = startProgramInTest(args);
    expect(await second.ended()).toBe(1);
    expect(second.stderr.join()).toContain('another process is archiving there; stop it first');
  });
});

describe('almanac up --archive', () => {
  it('archives the responses of its own facts API, including refusals, and stops together with the other parts', async () => {
    const folder = folderInTest();
    const archive = join(folder, 'archive');
    const up = ['up', '--data', folder, '--port', '0', '--account-port', '0', '--archive', archive];
    const nowhere = 'http://127.0.0.1:1';
    const env = {
      ALMANAC_JETSTREAM: 'ws://127.0.0.1:1/subscribe',
      ALMANAC_ALLOW_LOOPBACK: 'true',
      ALMANAC_PLC: nowhere,
      ALMANAC_RELAY: nowhere,
    };
    const program = startProgramInTest(up, { env });
    await until(
      'the index exists',
      () => statSync(join(archive, 'index.json'), { throwIfNoEntry: false }) !== undefined,
    );
    const { url } = await program.listening();
    const loader = await fetch(`${url}/archive/loaders/archive_month.py`);
    expect([loader.status, loader.headers.get('Content-Type'), loader.headers.get('Cache-Control')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'public, max-age=60',
    ]);
    expect(await loader.text()).toBe(packagedLoaders()['archive_month.py']);
    const overview = archivedLines(archive)['labels-overview.jsonl'] ?? '';
    expect([200, 503]).toContain((JSON.parse(overview.split('\n')[0] ?? '') as { status: number }).status);
    expect(await program.stop()).toBe(0);
    expect(await startProgramInTest(['archive', 'verify', archive]).ended()).toBe(0);
  });
});

describe('almanac archive verify', () => {
  it('verifies a directory and a URL, and exits with a specific code for a different key and for a removed log', async () => {
    const folder = folderInTest();
    const [root, kept] = [join(folder, 'archive'), join(folder, 'kept.json')];
    const archive = simulateArchive();
    await archive.run(74);
    writeArchive(root, archive);
    const server = createServer((request, response) => {
      const path = join(root, request.url ?? '');
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) response.writeHead(404).end();
      else response.end(readFileSync(path));
    });
    const url = `http://127.0.0.1:${(await listenForTest(server)).port}`;
    // `kinds` ignores the finding `order`, because simulated days can be in the future by this machine's clock.
    const verify = async (place: string, ...more: string[]) => {
      const program = startProgramInTest(['archive', 'verify', place, '--json', ...more]);
      const code = await program.ended();
      return { code, report: JSON.parse(program.stdout.join('\n')) as { findings: { kind: string }[] } };
    };
    const kinds = async (place: string, ...more: string[]) => {
      const { report } = await verify(place, ...more);
      return [...new Set(report.findings.map(({ kind }) => kind))].filter((kind) => kind !== 'order');
    };
    expect(await kinds(root, '--key', simulatedKey.verifier.text)).toEqual([]);
    expect(await kinds(url)).toEqual([]);
    const note = archive.content.get('log/checkpoint')?.toString('utf8');
    writeFileSync(kept, JSON.stringify({ key: simulatedKey.verifier.text, note }));
    expect(await kinds(url, '--checkpoint', kept)).toEqual([]);
    const other = signerKey('test.example/archive', Buffer.alloc(32, 6));
    const { code, report } = await verify(url, '--key', other.verifier.text);
    expect(report.findings.map(({ kind }) => kind)).toContain('key');
    expect(code).toBe(11);
    rmSync(join(root, 'log'), { recursive: true });
    expect((await verify(root, '--checkpoint', kept)).code).toBe(9);
  });

  it('stops at its time limit if a server never completes a response', async () => {
    const server = createServer((_, response) => {
      const timer = setInterval(() => response.write(' '), 1);
      response.on('close', () => clearInterval(timer));
    });
    const base = `http://127.0.0.1:${(await listenForTest(server)).port}`;
    const limits = { ms: 300, bytes: 1_000_000_000 };
    const wait = () => Promise.resolve();
    const own = { base, fetch, userAgent: 'test', timeoutMs: 30_000, limits, monotonic: () => performance.now(), wait };
    const report = await verifyArchive({ reader: new UrlReader(own), key: null, kept: null, now: Date.now(), wait });
    expect(report).toMatchObject({ limit: 'ms', keep: null, findings: [{ kind: 'unreadable', path: '.' }] });
  });

  it('exits with 1 for a missing directory and for a malformed key', async () => {
    const folder = folderInTest();
    expect(await startProgramInTest(['archive', 'verify', join(folder, 'no')]).ended()).toBe(1);
    expect(await startProgramInTest(['archive', 'verify', folder, '--key', 'abc']).ended()).toBe(1);
  });
});

describe('almanac archive rebuild and withdraw', () => {
  it('restore a missing table, and replace a withdrawn table with a tombstone that verify accepts', async () => {
    const root = join(folderInTest(), 'archive');
    const archive = simulateArchive();
    await archive.run(1);
    await archive.run(25, 48);
    writeArchive(root, archive);
    const run = async (...words: string[]) => {
      const program = startProgramInTest(['archive', ...words]);
      return { code: await program.ended(), output: [...program.stdout, ...program.stderr].join('\n') };
    };
    const table = join(root, 'days/2026-11-20/labels-labelers.parquet');
    const before = readFileSync(table);
    rmSync(table);
    const rebuilt = await run('rebuild', '2026-11-20', '--archive', root);
    expect(rebuilt).toMatchObject({
      code: 0,
      output: expect.stringContaining('restored: days/2026-11-20/labels-labelers'),
    });
    expect(readFileSync(table).equals(before)).toBe(true);
    const withdraw = ['withdraw', '2026-11-20', 'labels-labelers.parquet', '--archive', root];
    expect((await run(...withdraw)).code).toBe(1);
    expect((await run(...withdraw, '--reason', 'it names alice.bsky.social')).code).toBe(1);
    expect((await run(...withdraw, '--reason', 'a test')).code).toBe(0);
    expect(readdirSync(join(root, 'days/2026-11-20'))).not.toContain('labels-labelers.parquet');
    const { output } = await run('verify', root);
    expect(output).toContain('withdrawn by the publisher: days/2026-11-20/labels-labelers.parquet');
    expect(output).not.toContain('missing:');
  });
});
