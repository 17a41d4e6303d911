import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { simulationClock } from '../../harness/process/clock-setting.ts';
import { account, filledStore, type Passing, startAccount, startProxy } from '../../harness/process/export-station.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { type Later, onceInFile } from '../../harness/process/once-in-file.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import type { AccountRow } from '../../src/contract/account.ts';

/** Tests failures of the export command with a real service. A proxy simulates failures of the network. */

const run = promisify(execFile);

async function serve(labels: number, args: readonly string[], later?: Later) {
  const { url: store, rows } = await filledStore(labels, later);
  const { url, program, data } = await startAccount(store, args, folderInTest(later), later);
  return { store, rows, url, program, data };
}

function newFile() {
  const folder = folderInTest();
  return { folder, file: join(folder, 'rows.json') };
}

/** Starts a service with a store of its own, which the test may stop, and creates a directory for the export. */
async function station(labels: number, args: readonly string[] = []) {
  return { ...(await serve(labels, args)), ...newFile() };
}

const serving = onceInFile((later, labels: number) => serve(labels, [], later));

/** Returns the service that the tests share, and creates a directory for the export. */
async function unchanged(labels: number) {
  const { url, rows } = await serving(labels);
  return { url, rows, ...newFile() };
}

function exporting(from: string, file: string, more: readonly string[] = []): string[] {
  return ['export', account, '--from', from, '--days', '7', '--out', file, ...more];
}

function rowsIn(file: string): AccountRow[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as { rows: AccountRow[] }).rows;
}

const incomplete = 'almanac: export incomplete, nothing was written: ';

describe('data altered in transit', () => {
  it.each<[string, (passing: Passing) => string, string]>([
    ['a byte of a row in the middle', ({ body }) => body.replace('"spam"', '"spAm"'), 'does not have the digest'],
    ['a missing row', (passing) => withRows(passing, (rows) => rows.slice(1)), 'rows, but the service counted'],
    ['two swapped rows', (passing) => withRows(passing, (rows) => rows.reverse()), 'out of order'],
    ['a duplicated row', (passing) => withRows(passing, ([first, ...rows]) => [first, first, ...rows]), 'out of order'],
    ['a byte of the syntax', ({ body }) => body.replace('"rows":[', '"rows":{'), 'not one JSON object'],
    [
      'rows of another account',
      (passing) =>
        withRows(passing, (rows) => rows.map((row) => ({ ...(row as object), uri: 'did:web:other.example' }))),
      'another account',
    ],
  ])('is detected by the export command (%s)', async (_what, alter, said) => {
    const { url, folder, file } = await unchanged(400);
    const proxy = await startProxy(url, (passing) => {
      if (passing.nth === 4) passing.body = alter(passing);
    });
    const { code, stdout, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stdout]).toEqual([5, []]);
    expect(stderr.at(-1)).toContain(incomplete);
    expect(stderr.at(-1)).toContain(said);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is detected by the export command if it is in the manifest', async () => {
    const { url, folder, file } = await unchanged(400);
    const proxy = await startProxy(url, (passing) => {
      if (passing.creates) passing.body = passing.body.replace('"status":"', '"status":"x');
    });
    expect((await runProgram(exporting(proxy.url, file))).code).toBe(5);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('a service that sends pages without rows forever is rejected by the export command', async () => {
  const { url, folder, file } = await unchanged(400);
  let empty = '';
  const proxy = await startProxy(url, (passing) => {
    if (passing.creates) return;
    if (empty === '') empty = withRows(passing, () => []);
    passing.status = 200;
    passing.body = JSON.stringify({ ...(JSON.parse(empty) as object), next_cursor: `page ${passing.nth}` });
  });
  const { code, stderr } = await runProgram(exporting(proxy.url, file));
  expect([code, stderr.at(-1)]).toEqual([5, `${incomplete}the service sent more than 320 pages without rows`]);
  expect(readdirSync(folder)).toEqual([]);
});

function withRows({ body }: Passing, change: (rows: unknown[]) => unknown[]): string {
  const page = JSON.parse(body) as { rows: unknown[] };
  return JSON.stringify({ ...page, rows: change(page.rows) });
}

describe('the export command', () => {
  it('resumes at its cursor and completes the export after the service was unreachable', async () => {
    const { store, url, program, data, rows, file } = await station(400);
    let next = '';
    const proxy = await startProxy(url, async (passing) => {
      if (passing.nth !== 4) return;
      program.child.kill('SIGKILL');
      await program.ended();
      passing.response.destroy();
      ({ url: next } = await startAccount(store, [], data));
      proxy.state.upstream = next;
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr.filter((line) => line.includes('cannot be reached')).length > 0]).toEqual([0, true]);
    expect(stderr.join('\n')).not.toContain('restarting');
    expect(rowsIn(file)).toEqual(rows);
  });

  it('restarts and completes the export if a service with a different secret takes over', async () => {
    const { store, url, rows, file } = await station(400);
    const other = await startAccount(store);
    const proxy = await startProxy(url, (passing) => {
      if (passing.nth === 4) proxy.state.upstream = other.url;
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr.filter((line) => line.includes('restarting'))]).toEqual([
      0,
      ['almanac: the export expired; restarting'],
    ]);
    expect(rowsIn(file)).toEqual(rows);
  });

  it('repeats the request if a connection fails during a response', async () => {
    const { url, rows, file } = await unchanged(400);
    const proxy = await startProxy(url, ({ nth, response, body }) => {
      if (nth !== 3) return;
      response.writeHead(200, { 'Content-Length': String(Buffer.byteLength(body)) });
      response.write(body.slice(0, 100), () => response.destroy());
    });
    const { code } = await runProgram(exporting(proxy.url, file));
    expect([code, proxy.state.asked]).toEqual([0, 2 + Math.ceil(rows.length / 50)]);
    expect(rowsIn(file)).toEqual(rows);
  });

  it('fails with a specific exit code if the service stays unreachable', async () => {
    const { url, program, folder, file } = await station(40);
    program.child.kill('SIGKILL');
    await program.ended();
    const { code, stderr } = await runProgram(exporting(url, file, ['--give-up-seconds', '1']));
    expect([code, stderr.at(-1)]).toEqual([
      3,
      `${incomplete}the service cannot be reached: the connection was refused (ECONNREFUSED); gave up: another attempt would exceed the limit of 1 s`,
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a busy service', () => {
  const busy = (passing: Passing, seconds: string): void => {
    Object.assign(passing, {
      status: 503,
      headers: { 'Retry-After': seconds },
      body: JSON.stringify({ error: { status: 503, code: 'store_busy', message: 'Busy.' } }),
    });
  };

  it('is retried after the delay given in its Retry-After header', async () => {
    const { url, rows, file } = await unchanged(400);
    const proxy = await startProxy(url, (passing) => {
      if (passing.nth === 1 || passing.nth === 3) busy(passing, '1');
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    const again = 'almanac: the service is busy (store_busy); retrying in 1.0 s';
    expect([code, stderr.filter((line) => line.includes('busy'))]).toEqual([0, [again, again]]);
    expect(rowsIn(file)).toEqual(rows);
  });

  it('makes the command fail if its delay exceeds the default limit of 120 s', async () => {
    const { url, folder, file } = await unchanged(40);
    const proxy = await startProxy(url, (passing) => busy(passing, '900'));
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr]).toEqual([
      3,
      [
        `${incomplete}the service is busy (store_busy); gave up: another attempt would exceed the limit of 120 s; retry in 900 s`,
      ],
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an export that expires', () => {
  /** Starts a service with the secret of another one, for which all exports of that service have expired. */
  async function startLater({ store, data }: { store: string; data: string }) {
    const clock = simulationClock(join(folderInTest(), 'clock.json'));
    clock.run(1);
    // An export expires after 15 minutes.
    clock.step(16 * 60_000);
    return startAccount(store, [], data, onTestFinished, clock.env);
  }

  it('is restarted after it has expired, and completes', async () => {
    const { store, data, url, rows, file } = await station(200);
    const after = await startLater({ store, data });
    const proxy = await startProxy(url, (passing) => {
      if (passing.nth === 3) proxy.state.upstream = after.url;
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr.filter((line) => line.includes('restarting'))]).toEqual([
      0,
      ['almanac: the export expired; restarting'],
    ]);
    expect(rowsIn(file)).toEqual(rows);
  });

  it('makes the command fail with a specific exit code if it expires repeatedly', async () => {
    const { store, data, url, folder, file } = await station(200);
    const after = await startLater({ store, data });
    // Every export is created before its pages expire.
    const proxy = await startProxy(url, ({ creates }) => {
      proxy.state.upstream = creates ? after.url : url;
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr.at(-1)]).toEqual([
      4,
      `${incomplete}the export expired 4 times before its last page was received`,
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a response that is not an export', () => {
  it.each<[string, readonly string[], string]>([
    ['an unsupported interval', ['--days', '12'], '409 unsupported_interval'],
    [
      'an interval outside the window',
      ['--start', '2020-01-01T00:00:00Z', '--end', '2020-01-02T00:00:00Z'],
      '409 out_of_window',
    ],
  ])('is reported with a specific exit code if the service refuses the request (%s)', async (_what, flags, said) => {
    const { url, folder, file } = await unchanged(40);
    const { code, stderr } = await runProgram(['export', account, '--from', url, '--out', file, ...flags]);
    expect([code, readdirSync(folder)]).toEqual([2, []]);
    expect(stderr.at(-1)).toContain(`${incomplete}the service refused the request (${said})`);
  });

  it('is printed as one line of text, without terminal control sequences', async () => {
    const hostile = '\u001b]0;owned\u0007\u001b[31m\u202e\nalmanac: complete';
    const server = createServer((_request, response) => {
      const error = { status: 409, code: `x${hostile}`, message: hostile };
      response.writeHead(409).end(JSON.stringify({ error }));
    });
    const { port } = await listenForTest(server);
    const file = join(folderInTest(), 'export.json');
    const { code, stderr } = await runProgram(exporting(`http://127.0.0.1:${port}`, file));
    expect([code, stderr.length]).toEqual([2, 1]);
    expect(stderr.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(stderr[0]).toContain(`${incomplete}the service refused the request (409 x`);
  });

  it('is treated as a failure that leaves no file if it has many content codings', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'Content-Encoding': Array(6).fill('gzip').join(', '), 'Content-Length': '1000' });
      response.write('x');
      setTimeout(() => request.socket.destroy(), 50);
    });
    const { port } = await listenForTest(server);
    const folder = folderInTest();
    const { code, stderr } = await runProgram([
      ...exporting(`http://127.0.0.1:${port}`, join(folder, 'export.json')),
      ...['--give-up-seconds', '1'],
    ]);
    expect(stderr.at(-1)).toContain(`${incomplete}the service cannot be reached`);
    expect([code, readdirSync(folder)]).toEqual([3, []]);
  });

  const wrong = (does: string): string =>
    `${incomplete}the address ${does}, so it is not an account-view service; set the URL of an account-view service with --from`;

  it('is reported as a wrong address if it comes from another path of the service', async () => {
    const { url, file } = await unchanged(40);
    const { code, stderr } = await runProgram(exporting(`${url}/elsewhere`, file));
    expect([code, stderr]).toEqual([2, [wrong('responds with status 404')]]);
  });

  it('is reported as a wrong address if it comes from the facts API', async () => {
    const folder = folderInTest();
    const { url } = await startProgramInTest(['facts', '--artifacts', folder, '--port', '0']).listening();
    const { code, stderr } = await runProgram(exporting(url, join(folder, 'rows.json')));
    expect([code, stderr]).toEqual([2, [wrong('responds with status 404')]]);
  });

  it.each([
    ['a web page', 200, '<!doctype html><title>Welcome</title>', 'does not respond with an export'],
    ['other JSON', 200, '{"status":"ok"}', 'does not respond with an export'],
    ['a list', 200, '[]', 'does not respond with an export'],
    ['an access control page', 403, 'Forbidden', 'responds with status 403'],
  ])('is reported as a wrong address if another server sends it (%s)', async (_what, status, body, does) => {
    const folder = folderInTest();
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    const { port } = await listenForTest(server);
    const { code, stderr } = await runProgram(exporting(`http://127.0.0.1:${port}`, join(folder, 'rows.json')));
    expect([code, stderr, readdirSync(folder)]).toEqual([2, [wrong(does)], []]);
  });

  it('is not reported as a wrong address if it is a truncated response of the service', async () => {
    const { url, file } = await unchanged(40);
    const proxy = await startProxy(url, (passing) => {
      passing.body = passing.body.slice(0, -20);
    });
    const { code, stderr } = await runProgram(exporting(proxy.url, file));
    expect([code, stderr.at(-1)]).toEqual([5, `${incomplete}the service sent a response that is not one JSON object`]);
  });
});

describe('a file that cannot be written', () => {
  it.each<[string, (folder: string) => string, string]>([
    ['in a missing directory', (folder) => join(folder, 'none', 'rows.json'), 'its directory does not exist'],
    ['in place of a directory', (folder) => join(folder, 'folder'), 'it is a directory'],
    ['below a file', (folder) => join(folder, 'file', 'rows.json'), 'its parent is not a directory'],
  ])('is reported in one line (%s)', async (_what, place, said) => {
    const { url, folder } = await unchanged(40);
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), '');
    const file = place(folder);
    const before = readdirSync(folder);
    const { code, stderr } = await runProgram(exporting(url, file));
    expect([code, stderr]).toEqual([6, [`${incomplete}cannot write ${file}: ${said}`]]);
    expect(readdirSync(folder)).toEqual(before);
  });

  const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
  it.skipIf(!canMount)('is reported in one line and leaves no file if the disk is full', async () => {
    const { url, folder } = await unchanged(400);
    const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));
    const script = `mount -t tmpfs -o size=32k tmpfs "$1" && cd "$1" && shift; "$@"; echo "exit $?"; ls -A`;
    const command = ['-c', script, 'sh', folder, process.execPath, bin, ...exporting(url, 'rows.json')];
    const { stdout, stderr } = await run('unshare', ['-rm', 'sh', ...command]);
    expect(stdout).toBe('exit 6\n');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`${incomplete}cannot write rows.json: the disk is full (ENOSPC)`);
  });
});

describe('an interrupt', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('leaves no file behind (%s)', async (signal) => {
    const { url, folder, file } = await unchanged(400);
    let held = false;
    const proxy = await startProxy(url, async ({ nth, response }) => {
      if (nth < 4) return;
      held = true;
      await new Promise((resolve) => response.once('close', resolve));
    });
    const program = startProgramInTest(exporting(proxy.url, file, ['--format', 'csv']));
    await until('the delayed page', () => held);
    expect(readdirSync(folder).length).toBeGreaterThan(0);
    program.child.kill(signal);
    expect(await program.ended()).toBe(130);
    expect(program.stderr.at(-1)).toBe(`${incomplete}interrupted`);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an invalid command line', () => {
  const aDid = 'did:plc: and 24 of the letters a-z and digits 2-7, or did:web: and a host name';
  it.each<[readonly string[], string]>([
    [[], 'export requires exactly one DID'],
    [['did:plc:short'], `export requires a DID: ${aDid}; resolve a handle to its DID first`],
    [['alice.example'], `export requires a DID: ${aDid}; resolve a handle to its DID first`],
    [
      [account, '--days', '7', '--start', '2026-01-01T00:00:00Z', '--end', '2026-01-02T00:00:00Z'],
      'export requires --days, or --start and --end together',
    ],
    [[account, '--start', '2026-01-01T00:00:00Z'], 'export requires --days, or --start and --end together'],
    [
      [account, '--start', '2026-01-02T00:00:00Z', '--end', '2026-01-01T00:00:00Z'],
      '--start and --end require RFC 3339 timestamps with a time zone, and --end must be after --start',
    ],
    [[account, '--from', 'ftp://x.example'], '--from requires a URL (https or http); got "ftp://x.example"'],
    [[account, '--labeler', 'alice'], `--labeler requires a DID: ${aDid}`],
    [[account, '--format', 'xml'], '--format requires one of json, ndjson, csv; got "xml"'],
  ])('is rejected with a one-line error (arguments: %j)', async (args, said) => {
    const { code, stderr } = await runProgram(['export', ...args]);
    expect([code, stderr]).toEqual([1, [`almanac: ${said}`]]);
  });
});
