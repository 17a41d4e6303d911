import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificate, everyAddress, listenForTest, trustCertificate } from '../../harness/net/listen.ts';
import type { Resolve } from '../../src/network/guard/address-policy.ts';
import { createHttpClient, type HttpClient } from '../../src/network/http/http.ts';

const limits: Parameters<HttpClient['getText']>[1] = {
  maxBytes: 1000,
  timeoutMs: 5000,
  signal: new AbortController().signal,
};

function clientFor(options: Partial<Parameters<typeof createHttpClient>[0]> = {}): HttpClient {
  const client = createHttpClient({ policy: { allowLoopback: false }, userAgent: 'Almanac/test', ...options });
  onTestFinished(() => client.close());
  return client;
}

const resolvesTo =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

/** Listens on every address of this machine, including loopback, and records all connections. */
async function watcher() {
  return listenForTest(
    createServer((socket) => socket.end()),
    everyAddress,
  );
}

describe('the outbound guard', () => {
  it('prevents connections to literal addresses that are not public, in every notation', async () => {
    const { port, seen } = await watcher();
    const client = clientFor();
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '10.0.0.1',
      '172.16.0.1',
      '192.168.0.1',
      '100.64.0.1',
      '169.254.169.254',
      '[fe80::1]',
      '[fd00::1]',
      '224.0.0.1',
      '255.255.255.255',
    ];
    const answers = await Promise.all(hosts.map((host) => client.getJson(`https://${host}:${port}/`, limits)));
    expect(answers.map(({ kind }, at) => [hosts[at], kind])).toEqual(hosts.map((host) => [host, 'refused_address']));
    expect(seen).toHaveLength(0);
  });

  it('prevents connections to names that resolve to an address that is not public', async () => {
    const { port, seen } = await watcher();
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd00::1']) {
      const client = clientFor({ resolve: resolvesTo(address) });
      expect(await client.getJson(`https://labeler.example:${port}/`, limits)).toMatchObject({
        kind: 'refused_address',
      });
    }
    expect(await clientFor().getJson(`https://localhost:${port}/`, limits)).toEqual({
      kind: 'refused_address',
      why: 'no allowed address (loopback)',
    });
    expect(seen).toHaveLength(0);
  });

  it('prevents connections to URLs that are not https, or contain more than an address', async () => {
    const { port, seen } = await watcher();
    const [strict, local] = [clientFor(), clientFor({ policy: { allowLoopback: true } })];
    const refused = [
      `http://127.0.0.1:${port}/`,
      'http://8.8.8.8/',
      'ftp://8.8.8.8/',
      'file:///etc/passwd',
      'data:application/json,1',
      'https://',
      'no address',
      'https://user:secret@8.8.8.8/',
      'https://8.8.8.8/#part',
      `https://8.8.8.8/${'x'.repeat(10_000)}`,
    ];
    const kinds = await Promise.all(refused.map(async (url) => (await strict.getJson(url, limits)).kind));
    expect(kinds).toEqual(refused.map(() => 'bad_url'));
    expect(await local.getJson('http://8.8.8.8/', limits)).toEqual({
      kind: 'bad_url',
      why: 'http: is only allowed for loopback; use https:',
    });
    expect(JSON.stringify(await strict.getJson('https://user:secret@8.8.8.8/', limits))).not.toContain('secret');
    expect(seen).toHaveLength(0);
  });

  it('prevents plain http to a public name, even if loopback is allowed', async () => {
    const client = clientFor({ policy: { allowLoopback: true }, resolve: resolvesTo('8.8.8.8') });
    expect(await client.getJson('http://labeler.example/', limits)).toEqual({
      kind: 'refused_address',
      why: 'no allowed address (public, but unencrypted)',
    });
  });
});

describe('a host name', () => {
  it('is contacted at the checked address, even if it resolves differently the next time', async () => {
    const [good, bad] = [await json('"good"', '127.0.0.1'), await watcher()];
    let asked = 0;
    const resolve: Resolve = (_hostname, _options, done) => {
      asked += 1;
      done(null, [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    const client = clientFor({ policy: { allowLoopback: true }, resolve });
    expect(await client.getJson(`http://labeler.example:${good.port}/`, limits)).toMatchObject({ value: 'good' });
    expect({ asked, connected: good.seen.length, elsewhere: bad.seen.length }).toEqual({
      asked: 1,
      connected: 1,
      elsewhere: 0,
    });
  });

  it('is contacted at an allowed address even if it also has forbidden addresses', async () => {
    const { port, seen } = await json('"good"', '127.0.0.1');
    const client = clientFor({ policy: { allowLoopback: true }, resolve: resolvesTo('10.0.0.1', '127.0.0.1') });
    expect(await client.getJson(`http://labeler.example:${port}/`, limits)).toMatchObject({ value: 'good' });
    expect(seen).toHaveLength(1);
  });
});

describe('the HTTP client', () => {
  it.each([301, 302, 303, 307, 308])('returns a redirect response without following it (status %i)', async (status) => {
    const target = await watcher();
    const { port } = await listenForTest(
      createHttpServer((_request, response) => {
        response.writeHead(status, { Location: `http://127.0.0.1:${target.port}/` }).end();
      }),
    );
    const client = clientFor({ policy: { allowLoopback: true } });
    expect(await client.getJson(`http://127.0.0.1:${port}/`, limits)).toEqual({
      kind: 'status',
      status,
      retryAfterMs: null,
      error: null,
    });
    expect(target.seen).toHaveLength(0);
  });

  it('does not contact a proxy named in the environment', async () => {
    const proxy = await watcher();
    const { port } = await json('"direct"', '127.0.0.1');
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NODE_USE_ENV_PROXY'];
    for (const name of names) {
      const before = process.env[name];
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`;
      onTestFinished(() => {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      });
    }
    const client = clientFor({ policy: { allowLoopback: true } });
    expect(await client.getJson(`http://127.0.0.1:${port}/`, limits)).toMatchObject({ value: 'direct' });
    expect(proxy.seen).toHaveLength(0);
  });
});

describe('TLS', () => {
  it('requires a trusted certificate for the requested name', async () => {
    const server = createHttpsServer(certificate(), (_request, response) => response.end('1'));
    const { port } = await listenForTest(server);
    const policy = { allowLoopback: true };
    expect(await clientFor({ policy }).getJson(`https://localhost:${port}/`, limits)).toEqual({
      kind: 'tls',
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    trustCertificate();
    expect(await clientFor({ policy }).getJson(`https://localhost:${port}/`, limits)).toMatchObject({ kind: 'json' });
    const renamed = clientFor({ policy, resolve: resolvesTo('127.0.0.1') });
    expect(await renamed.getJson(`https://labeler.example:${port}/`, limits)).toEqual({
      kind: 'tls',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('uses the certificates that were trusted when the client was created, because its connections share one context', async () => {
    const server = createHttpsServer(certificate(), (_request, response) => response.end('1'));
    const { port } = await listenForTest(server);
    const before = getCACertificates('default');
    trustCertificate();
    const client = clientFor({ policy: { allowLoopback: true } });
    setDefaultCACertificates(before);
    const answers = Array.from({ length: 3 }, () => client.getJson(`https://localhost:${port}/`, limits));
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(['json', 'json', 'json']);
  });

  it('is never disabled by the environment', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    onTestFinished(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });
    const { port } = await listenForTest(createHttpsServer(certificate(), (_request, response) => response.end('1')));
    const client = clientFor({ policy: { allowLoopback: true } });
    expect(await client.getJson(`https://localhost:${port}/`, limits)).toMatchObject({ kind: 'tls' });
  });
});

async function json(body: string, host: string) {
  return listenForTest(
    createHttpServer((_request, response) => response.end(body)),
    host,
  );
}
