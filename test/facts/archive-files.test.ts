import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { simulateArchive, simulatedKey } from '../../harness/archive/simulated-archive.ts';
import { artifactFolderInTest, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { exchange } from '../../harness/net/raw-http.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { formatTombstones } from '../../src/archive/days/records.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { factsCommonHeaders } from '../../src/facts/app.ts';
import { archiveReplies } from '../../src/facts/archive/archive-replies.ts';

/** Tests that the observatory serves the files of an archive below `/archive/`, and no other file. */

const closedDay = 'days/2026-11-20';
const openDay = 'days/2026-11-23';
let content: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  const archive = simulateArchive();
  await archive.run(24 * 4);
  content = new Map(archive.content);
});

/** Writes the archive to a subdirectory next to a secret file, which must not be served. Returns the subdirectory. */
function archiveInTest(): string {
  const folder = folderInTest();
  const archive = join(folder, 'archive');
  for (const [path, bytes] of content) {
    mkdirSync(join(archive, dirname(path)), { recursive: true });
    writeFileSync(join(archive, path), bytes);
  }
  writeFileSync(join(folder, 'secret.json'), '{"secret":true}');
  return archive;
}

async function served(archive: string, args: readonly string[] = []) {
  const facts = startProgramInTest([
    ...['facts', '--port', '0', '--artifacts', artifactFolderInTest(), '--archive', archive, ...args],
  ]);
  const { port, url } = await facts.listening();
  return {
    port,
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') => get(url, path, { headers, method }),
  };
}

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Requests an exact path, because `fetch` would resolve `..` first. */
function get(
  base: string,
  path: string,
  options: { headers: Record<string, string>; method: string },
): Promise<Response> {
  const { hostname, port, pathname } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: `${pathname.replace(/\/$/, '')}${path}`, ...options }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end();
  });
}

const bytesOf = (path: string): Buffer => content.get(path) ?? Buffer.alloc(0);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('a file of the archive', () => {
  it('is served byte for byte with its digest as a strong ETag, and must be revalidated once its day is closed', async () => {
    const { get } = await served(archiveInTest());
    for (const path of content.keys()) {
      const { status, headers, body } = await get(`/archive/${path}`);
      expect([path, status, sha256(body)]).toEqual([path, 200, sha256(bytesOf(path))]);
      expect(headers.etag).toBe(`"${sha256(bytesOf(path))}"`);
      expect(headers['accept-ranges']).toBe('bytes');
      const isTile = path.startsWith('log/tile/');
      const ofClosedDay = path.startsWith(`${closedDay}/`) ? 'public, no-cache' : 'public, max-age=60';
      expect([path, headers['cache-control']]).toEqual([
        path,
        isTile ? 'public, max-age=31536000, immutable' : ofClosedDay,
      ]);
    }
    expect([...content.keys()].some((path) => path.startsWith(`${openDay}/`))).toBe(true);
    expect((await get('/archive/index.json')).headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('is gone for every client, even with the right ETag, once it is withdrawn', async () => {
    const root = archiveInTest();
    const { get } = await served(root);
    const path = `${closedDay}/labels-overview.jsonl`;
    const { etag } = (await get(`/archive/${path}`)).headers;
    const [file] = (['labels-overview.jsonl'] as const).map((name) => {
      const bytes = bytesOf(path);
      return {
        name,
        bytes: bytes.length,
        sha256: sha256(bytes),
        withdrawn_at: '2026-11-24T00:00:00.000Z',
        reason: 'a test',
      };
    });
    if (file === undefined) throw new Error('no file');
    // The tombstone is written first, so that the file is not served even if it cannot be removed.
    writeFileSync(join(root, closedDay, 'withdrawn.json'), formatTombstones(closedDay.slice('days/'.length), [file]));
    const asked = [{}, { 'If-None-Match': String(etag) }, { Range: 'bytes=0-9' }];
    for (const headers of asked) {
      const { status, headers: sent, body } = await get(`/archive/${path}`, headers);
      expect([status, sent['cache-control'], sent.etag]).toEqual([410, 'no-store', undefined]);
      expect(JSON.parse(body.toString())).toMatchObject({ error: { status: 410, code: 'withdrawn' } });
    }
    rmSync(join(root, path));
    expect((await get(`/archive/${path}`)).status).toBe(410);
    expect((await get(`/archive/${closedDay}/day.json`)).status).toBe(200);
  });

  it('is not sent again to a client that already has it, and has the same headers for HEAD as for GET', async () => {
    const { get } = await served(archiveInTest());
    const path = `/archive/${closedDay}/day.json`;
    const whole = await get(path);
    const { etag = '' } = whole.headers;
    const again = await get(path, { 'If-None-Match': String(etag) });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    const { date: _, ...headers } = whole.headers;
    expect(head.headers).toMatchObject(headers);
    const headOfRange = await get(path, { Range: 'bytes=0-9' }, 'HEAD');
    expect([headOfRange.status, headOfRange.headers['content-length']]).toEqual([200, whole.headers['content-length']]);
  });

  it('is served in ranges, unless the requested range belongs to another version', async () => {
    const { get } = await served(archiveInTest());
    const path = `${closedDay}/labels-overview.jsonl`;
    const whole = bytesOf(path);
    const part = await get(`/archive/${path}`, { Range: 'bytes=100-199' });
    expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 100-199/${whole.length}`]);
    expect(part.body.equals(whole.subarray(100, 200))).toBe(true);
    const { etag } = part.headers;
    const same = await get(`/archive/${path}`, { Range: 'bytes=-10', 'If-Range': String(etag) });
    expect([same.status, same.body.equals(whole.subarray(-10))]).toEqual([206, true]);
    const other = await get(`/archive/${path}`, { Range: 'bytes=-10', 'If-Range': '"other"' });
    expect([other.status, other.body.length]).toEqual([200, whole.length]);
    const outside = await get(`/archive/${path}`, { Range: `bytes=${whole.length}-` });
    expect([outside.status, outside.headers['content-range']]).toEqual([416, `bytes */${whole.length}`]);
  });

  it('permits a page of another origin to request a range of a version, and to read all headers of the response', async () => {
    const { get } = await served(archiveInTest());
    const origin = { Origin: 'https://client.example', 'Access-Control-Request-Method': 'GET' };
    const asked = { ...origin, 'Access-Control-Request-Headers': 'if-range,range' };
    const { status, headers } = await get(`/archive/${closedDay}/day.json`, asked, 'OPTIONS');
    expect([status, headers['access-control-allow-headers']]).toEqual([204, 'If-None-Match, If-Range, Range']);
    expect(headers['access-control-expose-headers']).toBe(
      'ETag, Last-Modified, Cache-Control, Age, Date, Content-Range, Accept-Ranges, Retry-After',
    );
    // The facts have no ranges.
    const { headers: factHeaders } = await get('/v1/labels/overview', asked, 'OPTIONS');
    expect(factHeaders['access-control-allow-headers']).toBe('If-None-Match');
  });

  it('stays public while the operator holds the label facts, even if it contains labels', async () => {
    const artifacts = artifactFolderInTest();
    writeFileSync(join(artifacts, artifactNames.labels), JSON.stringify({ ...youngArtifact('recent'), hold: true }));
    const args = ['facts', '--port', '0', '--artifacts', artifacts, '--archive', archiveInTest()];
    const { url } = await startProgramInTest(args).listening();
    expect((await fetch(`${url}/v1/labels/overview`)).status).toBe(503);
    for (const path of [`${closedDay}/labels-labelers.csv`, `${openDay}/labels-hours.json`]) {
      const response = await fetch(`${url}/archive/${path}`);
      expect([path, response.status, await response.text()]).toEqual([path, 200, bytesOf(path).toString('utf8')]);
    }
  });

  it('is served only below the base path and only for GET and HEAD, even on a connection that also requests facts', async () => {
    const { port } = await served(archiveInTest(), ['--base-path', '/obs']);
    const heads = ['/obs/health', '/obs/archive/log/checkpoint', '/obs/health', '/archive/index.json'].map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    const last = heads.pop()?.replace('Host: a', 'Host: a\r\nConnection: close') ?? '';
    const answers = await exchange(port, [...heads, last], false);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
    expect(answers).toContain(simulatedKey.verifier.name);
    const posted = 'POST /obs/archive/index.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const post = await exchange(port, [posted], false);
    expect(post).toMatch(/^HTTP\/1\.1 405 /);
  });
});

describe('a path below /archive/', () => {
  it('gives access only to files that are in the archive and that the archive lists', async () => {
    const archive = archiveInTest();
    writeFileSync(join(archive, 'notes.json'), '{}');
    writeFileSync(join(archive, closedDay, 'notes.json'), '{}');
    writeFileSync(join(archive, closedDay, '.day.json.aabbccddeeff.tmp'), '{}');
    rmSync(join(archive, 'known-issues.json'));
    symlinkSync(join(archive, '..', 'secret.json'), join(archive, 'known-issues.json'));
    symlinkSync(join(archive, closedDay), join(archive, 'days', '2026-11-19'));
    mkdirSync(join(archive, 'log/tile/0/999'), { recursive: true });
    const { get } = await served(archive);
    for (const path of [
      ...['/archive/../secret.json', '/archive/%2e%2e/secret.json', '/archive/days/../../secret.json'],
      ...['/archive//etc/passwd', '/archive/notes.json', `/archive/${closedDay}/notes.json`],
      ...[`/archive/${closedDay}/.day.json.aabbccddeeff.tmp`, `/archive/${closedDay}`, `/archive/${closedDay}/`],
      ...['/archive/known-issues.json', '/archive/days/2026-11-19/day.json', '/archive/log/tile/0/999'],
      ...['/archive/.archive.lock', '/archive/days', '/archive/log/', '/archive/', '/archive/index.json/x'],
      ...['/archive/index.json%00', `/archive/${closedDay}/day.json\\..\\x`],
    ]) {
      const { status, body } = await get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(body.toString()).not.toContain('secret":true');
    }
  });

  it("leads to a 404 response without an archive, and while the archive's directory does not exist yet", async () => {
    const { get } = await served(join(archiveInTest(), 'missing'));
    expect((await get('/archive/index.json')).status).toBe(404);
    const facts = startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
    expect((await fetch(`${(await facts.listening()).url}/archive/index.json`)).status).toBe(404);
  });
});

it('a file of the archive is refused while the maximum number of files is open, and served once files are closed', async () => {
  let closed = 0;
  const directory = {
    open: () =>
      Promise.resolve({
        handle: {
          read: (piece: Buffer, _: number, bytesRead: number) => Promise.resolve({ bytesRead, buffer: piece }),
          close: () => {
            closed += 1;
            return Promise.resolve();
          },
        } as never,
        ...{ bytes: 10, modifiedAt: 0, stamp: '', caching: 'brief' as const },
      }),
  };
  const { reply } = bound(archiveReplies({ directory, common: factsCommonHeaders, maxFiles: 1 }));
  const first = await reply();
  const second = await reply();
  expect([first.status, second.status]).toEqual([200, 503]);
  expect(second.headers).toContain('Retry-After');
  if ('stream' in first) await first.release?.();
  expect(closed).toBe(1);
  expect((await reply()).status).toBe(200);
});

function bound(replies: ReturnType<typeof archiveReplies>) {
  const asked = { method: 'GET', target: '', peer: '192.0.2.1', range: undefined, ifRange: undefined };
  return {
    reply: () => replies.reply('index.json', { ...asked, ifNoneMatch: undefined, acceptEncoding: undefined }, 0),
  };
}
