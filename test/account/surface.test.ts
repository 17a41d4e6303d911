import { describe, expect, it } from 'vitest';
import { account, ask, create, follow } from '../../harness/accounts/account.ts';
import { metricsOf, observed } from '../../harness/accounts/observed-accounts.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { answersIn, exchange } from '../../harness/net/raw-http.ts';
import { onceInFile } from '../../harness/process/once-in-file.ts';
import { childrenOf } from '../../harness/process/process-tree.ts';
import { until } from '../../harness/process/until.ts';
import { accountErrorTable } from '../../src/contract/errors.ts';

/** The surface with its default settings, for tests that change neither its store nor its processes. */
const unchanged = onceInFile((later) => observed(12, [], later));

function instant(agoMs: number): string {
  return new Date(Date.now() - agoMs).toISOString();
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

  it('responds to a browser with an error page in the browser’s language, with the typed name in the form', async () => {
    const { url } = await unchanged();
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
      const { url } = await unchanged();
      const response = await fetch(
        `${url}/account/not-a-did`,
        accept === undefined ? {} : { headers: { Accept: accept } },
      );
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
      expect(Object.fromEntries(response.headers)).toMatchObject(always);
    },
  );
});

describe('a request', () => {
  it('gets a 409 response with the error code and message, but no part of the query, if it is refused', async () => {
    const { url } = await unchanged();
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

  it('is not refused if its interval is only partly in the window, but its export is marked as clipped', async () => {
    const { url, store } = await unchanged();
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
  it('respond to GET, POST, DELETE and OPTIONS with the documented status and with headers that forbid storing the response', async () => {
    const { url } = await observed(12, ['--base-path', '/people']);
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
    const { url } = await unchanged();
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

  it('compress pages with the coding that the client prefers, and name the coding in a header', async () => {
    const { url } = await unchanged();
    const got = async (path: string, coding: string) => {
      const response = await fetch(url + path, { headers: { 'Accept-Encoding': coding } });
      const { headers } = response;
      const [encoding, vary] = [headers.get('content-encoding'), headers.get('vary')];
      return { encoding, vary, bytes: Number(headers.get('content-length')), text: await response.text() };
    };
    const vary = 'Accept-Language, Accept-Encoding';
    const plain = await got('/', 'identity');
    expect(plain).toMatchObject({ encoding: null, vary, bytes: Buffer.byteLength(plain.text) });
    for (const coding of ['gzip', 'br']) {
      const home = await got('/', coding);
      expect(home).toEqual({ encoding: coding, vary, bytes: home.bytes, text: plain.text });
      const page = await got(`/account?did=${account}`, `${coding}, identity;q=0.5`);
      expect(page).toMatchObject({ encoding: coding, vary });
      expect(page.text.match(/<li class="row/g)?.length).toBe(12);
      expect(page.bytes).toBeLessThan(Buffer.byteLength(page.text) / 4);
      expect(await got('/account?did=x', coding)).toMatchObject({ encoding: coding, vary });
    }
  });

  it('forbid storing every page, refusal and redirect, and every response to an invalid request', async () => {
    const { url, port } = await observed(12, ['--client-accounts', '1']);
    const { 'access-control-allow-origin': _, 'access-control-expose-headers': __, ...kept } = always;
    const pages = [
      ['/', 200],
      [`/account?did=${account}`, 200],
      [`/account?did=%20${account}`, 303],
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
        if (status === 303) {
          expect([described, headers.location, text]).toEqual([[], `/account?did=${encodeURIComponent(account)}`, '']);
        } else if (path.startsWith('/account')) {
          expect(described).toEqual([headers['content-type']?.split(';')[0]]);
        }
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

  it('respond to HEAD requests for a download and an export with the headers of GET', async () => {
    const { url } = await unchanged();
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

  it('serve the OpenAPI document and the health of the service', async () => {
    const { url } = await unchanged();
    expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(accountOpenApi.document);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok', service: 'almanac-account' });
  });
});

describe('the account surface', () => {
  it('permits a client only a limited number of accounts per day, but any number of requests for each account', async () => {
    const { url } = await observed(12, ['--client-accounts', '2', '--trust-proxy', '1']);
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
    const { url, program } = await observed(12, ['--access-log', '--metrics-port', '0', '--log-level', 'debug']);
    const created = await create(url);
    await follow(url, created);
    await ask(`${url}/exports`, { did: 'did:web:secret.example.com', days: '9' });
    await ask(`${url}/did:web:secret.example.com`, {});
    await ask(`${url}/exports`, { cursor: 'secret' });
    await until('the access log', () => program.log().filter(({ msg }) => msg === 'answered').length >= 5);
    await fetch(`${url}/account?did=${account}`);
    await fetch(`${url}/account?did=did:web:secret.example.com&value=secret.example`);
    // Kill the store-reading processes before the requests, and then suspend them, so that deadlines pass.
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      await until('a reading process', async () => (await fetch(`${url}/account?did=${account}`)).status === 200);
      for (const reader of childrenOf(program.child.pid ?? 0)) process.kill(reader, signal);
      await Promise.all([
        fetch(`${url}/account?did=did:web:secret.example.com`),
        fetch(`${url}/exports?did=did:web:secret.example.com`),
      ]);
    }
    const replaced = 'a store-reading process exited and is being replaced';
    await until('the log line about the replacement', () => program.log().some(({ msg }) => msg === replaced));
    const metrics = await metricsOf(program);
    expect(metrics).toContain('almanac_account_requests_total{route="/exports",status="409"} 2');
    const said = `${program.stderr.join('\n')}${program.stdout.join('\n')}${metrics}`;
    for (const secret of [account, account.slice(8), 'secret.example', created.cursor, '"client"']) {
      expect(said).not.toContain(secret);
    }
    expect(program.log().filter(({ msg }) => msg === 'answered')[0]).toMatchObject({ route: '/exports', status: 200 });
  });
});
