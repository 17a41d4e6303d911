import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  account,
  ask,
  childrenOf,
  create,
  fill,
  folderInTest,
  follow,
  startAccount,
  writerInTest,
} from '../../harness/accounts/account.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { answersIn, exchange, opened } from '../../harness/net/raw-http.ts';
import type { Program } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { accountErrorTable } from '../../src/contract/account-errors.ts';

/** Creates a store with a few rows, and starts the account surface with that store. */
async function observed(args: readonly string[] = [], count = 12) {
  const folder = folderInTest();
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
  await fill(store, count, { at: (Date.now() - 30_000) * 1000 });
  const program = startAccount(folder, args);
  const { url, port } = await program.listening();
  return { folder, store, program, url, port };
}

function instant(agoMs: number): string {
  return new Date(Date.now() - agoMs).toISOString();
}

/** Returns the metrics of a program. Their port is in its log. */
async function metricsOf(program: Program): Promise<string> {
  const announcedPort = (): unknown => program.log().find(({ msg }) => msg === 'metrics listening')?.port;
  await until('the port of the metrics', () => announcedPort() !== undefined);
  return (await fetch(`http://127.0.0.1:${Number(announcedPort())}/metrics`)).text();
}

const always = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Last-Modified, Cache-Control, Age, Date, Retry-After, Content-Disposition',
  'accept-ranges': 'none',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

const contentPolicy =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

describe('an address without a page', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('responds to a browser with a page in its language that says what to enter and repeats the typed name in the form', async () => {
    const { url } = await observed();
    const headers = { Accept: browser, 'Accept-Language': 'de' };
    const response = await fetch(`${url}/account/alice.bsky.social`, { headers });
    const page = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
    });
    expect(page).toContain('Unter dieser Adresse gibt es keine Seite');
    expect(page).toMatch(/<input[^>]*value="alice\.bsky\.social"/);
    const plain = await fetch(`${url}/nothing?lang=es`, { headers });
    expect(await plain.text()).toContain('No hay ninguna página en esta dirección');
    expect(await (await fetch(`${url}/account/%3Cb%3E`, { headers })).text()).not.toContain('<b>');
  });

  it.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0'])(
    'responds with JSON to a client that accepts %s',
    async (accept) => {
      const { url } = await observed();
      const response = await fetch(
        `${url}/account/not-a-did`,
        accept === undefined ? {} : { headers: { Accept: accept } },
      );
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
      expect(Object.fromEntries(response.headers)).toMatchObject(always);
    },
  );
});

describe('a refused request', () => {
  it('gets 409 with its error code and message, and without any part of the query', async () => {
    const { url } = await observed();
    const hour = 3_600_000;
    const refusals: readonly (readonly [keyof typeof accountErrorTable, Readonly<Record<string, string>>])[] = [
      ['invalid_account', { did: 'alice.example.com' }],
      ['invalid_account', { days: '7' }],
      ['unsupported_interval', { did: account, days: '14' }],
      ['invalid_interval', { did: account, days: 'x' }],
      ['invalid_interval', { did: account, start: instant(hour) }],
      ['invalid_interval', { did: account, start: instant(0), end: instant(hour) }],
      ['invalid_interval', { did: account, days: '7', start: instant(hour), end: instant(0) }],
      ['invalid_interval', { did: account, start: '2026-11-20T12:00:00', end: '2026-11-20T13:00:00' }],
      ['out_of_window', { did: account, start: instant(40 * 24 * hour), end: instant(35 * 24 * hour) }],
      ['out_of_window', { did: account, start: instant(-hour), end: instant(-2 * hour) }],
      ['invalid_filter', { did: account, labeler: 'mod' }],
      ['invalid_filter', { did: account, value: 'v'.repeat(129) }],
      ['invalid_filter', { did: account, action: 'applied' }],
      ['invalid_filter', { did: account, target_kind: 'list' }],
      ['unknown_parameter', { did: account, limit: '5' }],
    ];
    for (const [code, query] of refusals) {
      const { status, headers, body } = await ask(`${url}/exports`, query);
      expect(body).toEqual({ error: { status: 409, code, message: accountErrorTable[code].message } });
      expect({ status, ...Object.fromEntries(headers) }).toMatchObject({ status: 409, ...always });
      expect(accountOpenApi.faults('get', '/exports', 409, body)).toEqual([]);
    }
  });

  it('is not the result of an interval that only overlaps the window, which is clipped and marked instead', async () => {
    const { url, store } = await observed();
    const { startedAt } = await store.epoch();
    const { manifest } = await create(url, { start: '1999-01-01T00:00:00Z', end: instant(-60_000) });
    expect(manifest).toMatchObject({
      clipped: true,
      count_bound: 12,
      coverage: { warmup: { reason: 'not_observed' } },
    });
    expect(Date.parse(manifest.interval.start)).toBe(Math.floor(startedAt / 1000));
    expect(manifest.interval.end.slice(0, -4)).toBe(manifest.created_at.slice(0, -1));
  });
});

describe('the routes of the account surface', () => {
  it('respond to each method like the facts API, with headers that forbid storing the response', async () => {
    const { url } = await observed(['--base-path', '/people']);
    const cases = [
      ['GET', `${url}/health`, 200],
      ['GET', `${url}/openapi.json`, 200],
      ['GET', `${url}/robots.txt`, 200],
      ['GET', `${url}/exports/`, 404],
      ['GET', `${url}/EXPORTS`, 404],
      ['GET', `${new URL(url).origin}/health`, 404],
      ['POST', `${url}/exports`, 405],
      ['DELETE', `${url}/nowhere`, 405],
      ['OPTIONS', `${url}/exports`, 204],
    ] as const;
    for (const [method, target, status] of cases) {
      const answer = await fetch(target, { method });
      expect({ target, status: answer.status, ...Object.fromEntries(answer.headers) }).toMatchObject({
        target,
        status,
        ...always,
        ...(status === 405 ? { allow: 'GET, HEAD, OPTIONS' } : {}),
      });
      await answer.arrayBuffer();
    }
  });

  it('respond to HEAD with the headers of GET, without a body', async () => {
    const { url } = await observed();
    for (const query of ['/health', '/openapi.json', '/exports?did=x', '/nowhere', '/download']) {
      const [get, head] = [await fetch(url + query), await fetch(url + query, { method: 'HEAD' })];
      const bytes = (await get.arrayBuffer()).byteLength;
      expect((await head.arrayBuffer()).byteLength).toBe(0);
      // Ignore the connection headers, because they depend on the client.
      const { date: _, connection: __, 'keep-alive': ___, ...headers } = Object.fromEntries(head.headers);
      const { date: ____, connection: _____, 'keep-alive': ______, ...expected } = Object.fromEntries(get.headers);
      expect({ status: head.status, ...headers }).toEqual({ status: get.status, ...expected });
      expect(headers['content-length']).toBe(String(bytes));
    }
  });

  it('forbid storing every page, refusal and redirect, and every response to an invalid request', async () => {
    const { url, port } = await observed(['--client-accounts', '1']);
    const { 'access-control-allow-origin': _, 'access-control-expose-headers': __, ...kept } = always;
    const pages = [
      ['/', 200],
      [`/account?did=${account}`, 200],
      ['/account?did=did:web:another.example.com', 503],
      ['/account?did=alice.example.com', 503],
      [`/account?did=${account}&days=9`, 409],
      ['/account', 409],
      ['/assets/account.css', 200],
    ] as const;
    for (const [path, status] of pages) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetch(url + path, { method, redirect: 'manual' });
        const text = await answer.text();
        const headers = Object.fromEntries(answer.headers);
        expect({ path, status: answer.status, ...headers }).toMatchObject({ path, status, ...kept });
        expect(headers['content-security-policy']).toBe(contentPolicy);
        expect(headers['access-control-allow-origin']).toBeUndefined();
        const described = accountOpenApi.contentTypes('get', path.split('?')[0] ?? '', status);
        if (path.startsWith('/account')) expect(described).toEqual([headers['content-type']?.split(';')[0]]);
        if (method === 'HEAD') expect(text).toBe('');
      }
    }
    const unread = [
      'NONSENSE\r\n\r\n',
      'GET /account HTTP/1.1\r\n\r\n',
      `GET /account?did=${'a'.repeat(20_000)}`,
      `GET /account?did=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /account HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    ];
    const answers = await Promise.all(unread.map(async (bytes) => answersIn(await exchange(port, [bytes], false))));
    expect(answers.flat().map(({ status }) => status)).toEqual([400, 400, 414, 414, 431, 405]);
    for (const { status, headers } of answers.flat()) {
      expect(headers).toMatchObject(always);
      expect(accountOpenApi.contentTypes('get', '/account', status)).toEqual([headers['content-type']?.split(';')[0]]);
    }
  });

  it('respond to HEAD of a download and of an export with the headers of GET', async () => {
    const { url } = await observed();
    const { cursor } = await create(url);
    const page = await (await fetch(`${url}/account?did=${account}`)).text();
    const download = /href="(\/download\?cursor=[\w-]+)"/.exec(page)?.[1] ?? '';
    for (const path of [download, `/exports?cursor=${cursor}`, `/exports?did=${account}`]) {
      const [get, head] = [await fetch(url + path), await fetch(url + path, { method: 'HEAD' })];
      await get.arrayBuffer();
      expect(await head.text()).toBe('');
      const names = ['content-type', 'content-disposition', 'content-length', ...Object.keys(always)];
      const comparable = (answer: Response) => [answer.status, ...names.map((name) => answer.headers.get(name))];
      expect(comparable(head)).toEqual(comparable(get));
      expect(head.status).toBe(200);
    }
  });

  it('serve the OpenAPI document', async () => {
    const { url } = await observed();
    expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(accountOpenApi.document);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok', service: 'almanac-account' });
  });
});

describe('the account surface at startup', () => {
  it('opens the days to be read in every store-reading process before it accepts a client', async () => {
    const { program } = await observed(['--readers', '2']);
    const readers = childrenOf(program.child.pid ?? 0);
    expect(readers).toHaveLength(2);
    for (const pid of readers) {
      const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
      expect(open.filter((file) => /\/days\/[\d-]+\.open\.sqlite$/.test(file))).not.toEqual([]);
    }
  });
});

function targetOf(link: string): string[] {
  try {
    return [readlinkSync(link)];
  } catch {
    return [];
  }
}

describe('the account surface with a busy store', () => {
  it('responds with 503 and Retry-After if the queue is full or a deadline has passed, and frees the slot once the process has exited', async () => {
    const tight = ['--readers', '1', '--queue', '1', '--queue-ms', '30000'];
    const { url, program } = await observed([...tight, '--metrics-port', '0']);
    await create(url);
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    // A stopped process simulates a read that never ends, for example because of a failing disk.
    process.kill(reader, 'SIGSTOP');
    // Whatever the order of arrival, one request uses the reader, one waits for it, and one is refused.
    const three = await Promise.all([1, 2, 3].map(() => ask(`${url}/exports`, { did: account })));
    const refused = three.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    for (const { status, headers, body } of refused) {
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'store_busy' });
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(accountOpenApi.faults('get', '/exports', 503, body)).toEqual([]);
    }
    const metrics = await metricsOf(program);
    expect(metrics).toContain('almanac_account_busy_total{reason="full"} 1');
    expect(metrics).toContain('almanac_account_busy_total{reason="deadline"} 1');
    // A new process served the waiting request, because the old one had exited.
    const now = childrenOf(program.child.pid ?? 0);
    expect(now).not.toContain(reader);
    expect(now).toHaveLength(1);
  });

  it('replaces a reading process that has exited', async () => {
    const { url, program } = await observed(['--readers', '1']);
    const created = await create(url);
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    process.kill(reader, 'SIGKILL');
    await until('another process', async () => (await ask(`${url}/exports`, { did: account })).status === 200);
    expect((await follow(url, created)).count).toBe(12);
  });

  it('reports a store that does not exist yet as busy, and reads the store once it has been created', async () => {
    const folder = folderInTest();
    mkdirSync(folder, { recursive: true });
    const { url } = await startAccount(folder).listening();
    const { status, headers, body } = await ask(`${url}/exports`, { did: account });
    expect({ status, code: body.error.code, retry: headers.get('retry-after') }).toEqual({
      status: 503,
      code: 'store_busy',
      retry: '5',
    });
    await fill(writerInTest(folder, (Date.now() - 60_000) * 1000), 3, { at: (Date.now() - 30_000) * 1000 });
    expect((await follow(url, await create(url))).count).toBe(3);
  });

  it('frees the place of a client that disconnects while waiting for a download, without an error', async () => {
    const { url, program } = await observed(['--readers', '1', '--log-level', 'debug']);
    const html = await (await fetch(`${url}/account?did=${account}`)).text();
    const href = /href="(\/download\?cursor=[\w-]+)"/.exec(html)?.[1] ?? '';
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    process.kill(reader, 'SIGSTOP');
    const two = [new AbortController(), new AbortController()] as const;
    const asked = two.map(({ signal }) => fetch(url + href, { signal }));
    // One of the two downloads uses the reader, and the other one is refused.
    const first = await Promise.race(asked.map(async (answer, i) => ({ i, status: (await answer).status })));
    expect(first.status).toBe(503);
    two[1 - first.i]?.abort();
    await expect(asked[1 - first.i]).rejects.toThrow('aborted');
    process.kill(reader, 'SIGCONT');
    // Repeat the request, because the read during which the reader was stopped may still be in progress.
    let whole = await fetch(url + href);
    await until('its place', async () => {
      if (whole.status !== 200) whole = await fetch(url + href);
      return whole.status === 200;
    });
    expect(await whole.json()).toMatchObject({ count: 12 });
    expect(program.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('exits on SIGTERM, together with all its processes', async () => {
    const { url, program } = await observed();
    await create(url);
    const readers = childrenOf(program.child.pid ?? 0);
    expect(readers.length).toBeGreaterThan(0);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(readers.filter(isAlive)).toEqual([]);
  });

  it('exits in time on SIGTERM even if a client does not read its download', async () => {
    const { url, port, program } = await observed([], 20_000);
    const html = await (await fetch(`${url}/account?did=${account}`)).text();
    const href = /href="(\/download\?cursor=[\w-]+)"/.exec(html)?.[1] ?? '';
    const socket = await opened(port);
    onTestFinished(() => void socket.destroy());
    socket.write(`GET ${href} HTTP/1.1\r\nHost: a\r\n\r\n`);
    // The response has begun, and the client does not read it.
    await once(socket, 'readable');
    const readers = childrenOf(program.child.pid ?? 0);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(readers.filter(isAlive)).toEqual([]);
  });

  it('leaves no store-reading process behind when it is killed', async () => {
    const { url, program } = await observed();
    await create(url);
    const readers = childrenOf(program.child.pid ?? 0);
    program.child.kill('SIGKILL');
    await until('the reading processes to end', () => readers.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('privacy', () => {
  it('permits a client a limited number of accounts per day, each any number of times', async () => {
    const { url } = await observed(['--client-accounts', '2', '--trust-proxy', '1']);
    const from = async (client: string, did: string) => {
      const answer = await fetch(`${url}/exports?did=${did}`, { headers: { 'X-Forwarded-For': client } });
      await answer.arrayBuffer();
      return answer;
    };
    for (const did of [account, 'did:web:a.example.com', account]) {
      expect((await from('192.0.2.1', did)).status).toBe(200);
      expect((await from('2001:db8::1', did)).status).toBe(200);
    }
    const third = await from('192.0.2.1', 'did:web:b.example.com');
    expect(third.status).toBe(503);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await from('192.0.2.1', account)).status).toBe(200);
    expect((await from('192.0.2.2', 'did:web:b.example.com')).status).toBe(200);
    // Another address of the same IPv6 /64 network counts as the same client.
    expect((await from('2001:db8::2', 'did:web:b.example.com')).status).toBe(503);
    expect((await from('2001:db8:0:1::1', 'did:web:b.example.com')).status).toBe(200);
  });

  it('keeps accounts, clients and cursors out of logs and metrics', async () => {
    const { url, program } = await observed(['--access-log', '--metrics-port', '0', '--log-level', 'debug']);
    const created = await create(url);
    await follow(url, created);
    await ask(`${url}/exports`, { did: 'did:web:secret.example.com', days: '9' });
    await ask(`${url}/did:web:secret.example.com`, {});
    await ask(`${url}/exports`, { cursor: 'secret' });
    await until('the access log', () => program.log().filter(({ msg }) => msg === 'answered').length >= 5);
    await fetch(`${url}/account?did=${account}`);
    await fetch(`${url}/account?did=did:web:secret.example.com&value=secret.example`);
    // One store-reading process is killed during a request, and another at its deadline.
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      await until('a reading process', async () => (await fetch(`${url}/account?did=${account}`)).status === 200);
      for (const reader of childrenOf(program.child.pid ?? 0)) process.kill(reader, signal);
      await Promise.all([
        fetch(`${url}/account?did=did:web:secret.example.com`),
        fetch(`${url}/exports?did=did:web:secret.example.com`),
      ]);
    }
    const replaced = 'a store-reading process exited and is being replaced';
    await until('the log of it', () => program.log().some(({ msg }) => msg === replaced));
    const metrics = await metricsOf(program);
    expect(metrics).toContain('almanac_account_requests_total{route="/exports",status="409"} 2');
    const said = `${program.stderr.join('\n')}${program.stdout.join('\n')}${metrics}`;
    for (const secret of [account, account.slice(8), 'secret.example', created.cursor, '"client"']) {
      expect(said).not.toContain(secret);
    }
    expect(program.log().filter(({ msg }) => msg === 'answered')[0]).toMatchObject({ route: '/exports', status: 200 });
  });
});
