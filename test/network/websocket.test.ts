import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createNameResolver } from '../../src/network/dns/name-resolver.ts';
import type { Resolve } from '../../src/network/guard/address-policy.ts';
import { FrameLane } from '../../src/network/websocket/partial-message.ts';
import {
  ConnectError,
  type GuardedSocket,
  openSocket,
  type SocketOptions,
} from '../../src/network/websocket/websocket.ts';

const maxClosingBytes = 256 * 1024;

const defaults = {
  policy: { allowLoopback: true },
  userAgent: 'Almanac/test',
  handshakeMs: 5000,
  closeMs: 200,
  pingMs: 5000,
  pongMs: 5000,
  idleMs: 5000,
  maxFrameBytes: 1024,
  onFrame: () => undefined,
  resolve: createNameResolver({ hostsFile: null }).resolve,
} as const;

const never = new AbortController().signal;

async function open(url: string, options: Partial<SocketOptions> = {}, signal = never): Promise<GuardedSocket> {
  const socket = await openSocket({ ...defaults, url, ...options }, signal);
  onTestFinished(async () => {
    socket.close();
    await socket.closed;
  });
  return socket;
}

/** Returns the error with which `openSocket` rejects. */
async function refusal(url: string, options: Partial<SocketOptions> = {}, signal = never): Promise<object> {
  const error: unknown = await openSocket({ ...defaults, url, ...options }, signal).then(
    () => 'it opened',
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectError)) throw new Error('the error is not a ConnectError', { cause: error });
  return { kind: error.kind, message: error.message, status: error.status, retryable: error.retryable };
}

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a websocket server on a free port of 127.0.0.1. `onConnection` handles each connection. */
async function serve(onConnection: (peer: WebSocket) => void, options = {}): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options });
  server.on('connection', (peer) => {
    peer.on('error', () => undefined);
    onConnection(peer);
  });
  onTestFinished(() => {
    for (const peer of server.clients) peer.terminate();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Starts a TCP server that keeps its sockets. `connected` resolves with the first socket, and `arrived` with that
 * socket's first byte.
 */
async function serveTcp(onSocket: (socket: Socket) => void, host = '127.0.0.1') {
  const sockets: Socket[] = [];
  const connected = Promise.withResolvers<Socket>();
  const arrived = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.push(socket);
    connected.resolve(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => arrived.resolve());
    onSocket(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { port: await listen(server, host), sockets, connected: connected.promise, arrived: arrived.promise };
}

const resolvesTo =
  (address: string): Resolve =>
  (_hostname, _options, done) =>
    done(null, [{ address, family: 4 }]);

describe('the outbound guard of websocket connections', () => {
  it('rejects literal private addresses in every notation, and plain ws, without a connection', async () => {
    const { port, sockets } = await serveTcp(() => undefined);
    const policy = { allowLoopback: false };
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0177.1', '127.1']) {
      expect(await refusal(`wss://${host}:${port}/subscribe`, { policy })).toEqual({
        kind: 'refused_address',
        message: `cannot connect to wss://127.0.0.1:${port}/subscribe: no allowed address (loopback)`,
        status: null,
        retryable: false,
      });
    }
    expect(await refusal(`wss://[::ffff:7f00:1]:${port}/`)).toMatchObject({ kind: 'refused_address' });
    expect(await refusal('wss://10.0.0.1/')).toMatchObject({ kind: 'refused_address' });
    expect(await refusal(`ws://127.0.0.1:${port}/`, { policy })).toMatchObject({
      kind: 'bad_url',
      message: `cannot connect to ws://127.0.0.1:${port}/: ws: is not allowed; use wss:`,
    });
    expect(sockets).toHaveLength(0);
  });

  it('rejects a name that resolves to a private address, without a connection', async () => {
    const { port, sockets } = await serveTcp(() => undefined, '127.0.0.2');
    const policy = { allowLoopback: false };
    const url = `wss://jetstream.example:${port}/subscribe`;
    expect(await refusal(url, { policy, resolve: resolvesTo('127.0.0.2') })).toEqual({
      kind: 'refused_address',
      message: `cannot connect to ${url}: no allowed address (loopback)`,
      status: null,
      retryable: false,
    });
    expect(sockets).toHaveLength(0);
  });

  it('connects to the checked address, even if the name resolves differently the next time', async () => {
    const elsewhere = await serveTcp(() => undefined, '127.0.0.2');
    const url = await serve((peer) => peer.close(4000));
    let asked = 0;
    const resolve: Resolve = (_hostname, _options, done) => {
      asked += 1;
      done(null, [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    const socket = await open(url.replace('127.0.0.1', 'jetstream.example'), { resolve });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 4000 });
    expect({ asked, elsewhere: elsewhere.sockets.length }).toEqual({ asked: 1, elsewhere: 0 });
  });

  it('passes on the text of a close frame only if it is a known name', async () => {
    const close = async (text: string) => {
      const url = await serve((peer) => peer.close(1000, text));
      const socket = await open(url, { closeNames: ['FutureCursor', 'OutdatedCursor'] });
      return socket.closed;
    };
    expect(await close('OutdatedCursor')).toEqual({ reason: 'remote_close', code: 1000, name: 'OutdatedCursor' });
    expect(await close('OutdatedCursor ')).toEqual({ reason: 'remote_close', code: 1000 });
    expect(await close('')).toEqual({ reason: 'remote_close', code: 1000 });
  });

  it('allows plain ws only to loopback, by address or by name', async () => {
    expect(await refusal('ws://8.8.8.8/')).toMatchObject({ kind: 'bad_url' });
    expect(await refusal('ws://jetstream.example/', { resolve: resolvesTo('8.8.8.8') })).toMatchObject({
      kind: 'refused_address',
      message: 'cannot connect to ws://jetstream.example/: no allowed address (public, but unencrypted)',
    });
  });

  it('rejects an invalid websocket address with an error that contains neither credentials nor the query', async () => {
    const badUrl = { kind: 'bad_url', status: null, retryable: false };
    expect(await refusal('not a url ?secret')).toEqual({ ...badUrl, message: 'cannot connect: not a URL' });
    expect(await refusal('https://me:secret@host.example/x?secret')).toEqual({
      ...badUrl,
      message: 'cannot connect to https://host.example/x: https: is not allowed; use wss:',
    });
    expect(await refusal('wss://me:secret@host.example/x?secret#secret')).toEqual({
      ...badUrl,
      message: 'cannot connect to wss://host.example/x: it has a fragment',
    });
  });
});

describe('opening a websocket', () => {
  it('fails if the host name is unknown', async () => {
    const resolve: Resolve = (_hostname, _options, done) =>
      done(Object.assign(new Error('not found'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }), []);
    expect(await refusal('wss://host.example/', { resolve })).toEqual({
      kind: 'dns',
      message: 'cannot connect to wss://host.example/: no such host name (ENOTFOUND)',
      status: null,
      retryable: true,
    });
  });

  it('fails if no server is listening', async () => {
    // Use a port below the range of ephemeral ports, on which no process will be listening.
    expect(await refusal('ws://127.0.0.1:1/')).toEqual({
      kind: 'connect',
      message: 'cannot connect to ws://127.0.0.1:1/: the connection was refused (ECONNREFUSED)',
      status: null,
      retryable: true,
    });
  });

  it('names the connection and not the host name in the failure if the address was known at once', async () => {
    const resolve: Resolve = (_hostname, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
    expect(await refusal('ws://localhost:1/', { resolve })).toMatchObject({ kind: 'connect' });
  });

  it('fails if the certificate is not trusted, even if the environment disables the check', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    onTestFinished(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });
    const port = await listen(createHttpsServer(certificate()));
    expect(await refusal(`wss://localhost:${port}/`)).toMatchObject({ kind: 'tls' });
  });

  it('fails if the certificate is not trusted', async () => {
    const server = createHttpsServer(certificate());
    const port = await listen(server);
    expect(await refusal(`wss://localhost:${port}/`)).toEqual({
      kind: 'tls',
      message: `cannot connect to wss://localhost:${port}/: the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)`,
      status: null,
      retryable: true,
    });
  });

  it('times out if the peer never responds to the handshake, and releases the connection', async () => {
    const { port, connected } = await serveTcp(() => undefined);
    expect(await refusal(`ws://127.0.0.1:${port}/`, { handshakeMs: 100 })).toEqual({
      kind: 'timeout',
      message: `cannot connect to ws://127.0.0.1:${port}/: no response within 100 ms`,
      status: null,
      retryable: true,
    });
    await ended(await connected);
  });

  it('times out if the name is never resolved', async () => {
    const resolve: Resolve = () => undefined;
    expect(await refusal('wss://host.example/', { resolve, handshakeMs: 50 })).toMatchObject({ kind: 'timeout' });
  });

  it.each([
    [503, true],
    [429, true],
    [400, false],
    [404, false],
    [200, false],
  ])('reports the status %i of a rejected handshake (retryable: %s)', async (status, retryable) => {
    const port = await listen(createHttpServer((_request, response) => response.writeHead(status).end('no')));
    expect(await refusal(`ws://127.0.0.1:${port}/subscribe?cursor=1`)).toEqual({
      kind: 'handshake_status',
      message: `cannot connect to ws://127.0.0.1:${port}/subscribe: the handshake failed with status ${status}`,
      status,
      retryable,
    });
  });

  it('does not follow a redirect of the handshake', async () => {
    const elsewhere = await serveTcp(() => undefined);
    const location = `ws://127.0.0.1:${elsewhere.port}/`;
    const port = await listen(createHttpServer((_request, response) => response.writeHead(302, { location }).end()));
    expect(await refusal(`ws://127.0.0.1:${port}/`)).toMatchObject({ kind: 'handshake_status', status: 302 });
    expect(elsewhere.sockets).toHaveLength(0);
  });

  it('fails if the peer does not speak the websocket protocol', async () => {
    const { port } = await serveTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')));
    expect(await refusal(`ws://127.0.0.1:${port}/`)).toMatchObject({ kind: 'handshake', retryable: true });
  });

  it('stops when it is aborted, before or during the attempt', async () => {
    const { port, sockets, arrived } = await serveTcp(() => undefined);
    const url = `ws://127.0.0.1:${port}/`;
    const aborted = { kind: 'aborted', message: `cannot connect to ${url}: aborted`, status: null, retryable: false };
    expect(await refusal(url, {}, AbortSignal.abort())).toEqual(aborted);
    expect(sockets).toHaveLength(0);

    const stop = new AbortController();
    const refused = refusal(url, {}, stop.signal);
    await arrived;
    stop.abort();
    expect(await refused).toEqual(aborted);
    await ended(sockets[0]);
  });
});

describe('an open websocket connection', () => {
  it('passes on every message in order, with its kind', async () => {
    const frames: [string, boolean][] = [];
    const url = await serve((peer) => {
      peer.send('one');
      peer.send(Buffer.from('two'), { binary: true });
      peer.send('', { binary: false });
      // Send bytes that are not UTF-8, because the consumer of the frames must handle them.
      peer.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
      peer.close(1000);
    });
    const socket = await open(url, { onFrame: (data, isBinary) => frames.push([data.toString('latin1'), isBinary]) });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 1000 });
    expect(frames).toEqual([
      ['one', false],
      ['two', true],
      ['', false],
      ['"\xff"', false],
    ]);
  });

  it('passes on only one message per turn of the event loop if the reader’s messages are costly', async () => {
    const count = 50;
    const url = await serve((peer) => {
      // Send all messages in one chunk.
      const socket = (peer as unknown as { _socket: Socket })._socket;
      socket.cork();
      for (let i = 0; i < count; i += 1) peer.send(String(i));
      socket.uncork();
    });
    const turns: number[] = [];
    const frames: string[] = [];
    let turn = 0;
    let ended = false;
    const next = (): void => {
      turn += 1;
      if (!ended) setImmediate(next);
    };
    next();
    const all = Promise.withResolvers<void>();
    await open(url, {
      isCostly: true,
      onFrame: (data) => {
        turns.push(turn);
        frames.push(data.toString());
        if (frames.length === count) all.resolve();
      },
    });
    await all.promise;
    ended = true;
    expect(frames).toEqual(Array.from({ length: count }, (_, i) => String(i)));
    expect(new Set(turns).size).toBe(count);
  });

  it('speaks TLS with a peer whose certificate is trusted', async () => {
    const before = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(before));
    setDefaultCACertificates([...before, certificate().cert]);
    const server = createHttpsServer(certificate());
    const port = await listen(server);
    new WebSocketServer({ server }).on('connection', (peer) => peer.close(4001));
    const socket = await open(`wss://localhost:${port}/`);
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 4001 });
  });

  it("sends the program's User-Agent in the handshake", async () => {
    const named = Promise.withResolvers<unknown>();
    const port = await listen(
      createHttpServer().on('upgrade', (request, socket) => {
        named.resolve(request.headers['user-agent']);
        socket.destroy();
      }),
    );
    const userAgent = 'Almanac/1.2.3 (+https://example.org)';
    expect(await refusal(`ws://127.0.0.1:${port}/`, { userAgent })).toMatchObject({ kind: 'handshake' });
    expect(await named.promise).toBe(userAgent);
  });

  it('requests no compression in the handshake', async () => {
    const offered = Promise.withResolvers<unknown>();
    const port = await listen(
      createHttpServer().on('upgrade', (request, socket) => {
        offered.resolve(request.headers['sec-websocket-extensions']);
        socket.destroy();
      }),
    );
    expect(await refusal(`ws://127.0.0.1:${port}/`)).toMatchObject({ kind: 'handshake' });
    expect(await offered.promise).toBeUndefined();
  });

  it('reports a close without a code, and a lost connection', async () => {
    const silent = await open(await serve((peer) => peer.close()));
    expect(await silent.closed).toEqual({ reason: 'remote_close', code: 1005 });
    const dropped = await open(await serve((peer) => peer.terminate()));
    expect(await dropped.closed).toEqual({ reason: 'dropped' });
  });

  it('closes if a message, whole or in fragments, exceeds the size limit, and delivers the messages before it', async () => {
    for (const send of [
      (peer: WebSocket) => peer.send('x'.repeat(1025)),
      (peer: WebSocket) => {
        peer.send('x'.repeat(1000), { fin: false });
        peer.send('x'.repeat(25), { fin: true });
      },
    ]) {
      const lengths: number[] = [];
      const url = await serve((peer) => {
        peer.send('x'.repeat(1024));
        send(peer);
      });
      const socket = await open(url, { onFrame: (data) => lengths.push(data.length) });
      expect(await socket.closed).toEqual({ reason: 'too_large' });
      expect(lengths).toEqual([1024]);
    }
  });

  it('closes if a message has more fragments than the limit, because each fragment takes up memory of its own', async () => {
    const fragments = (peer: WebSocket, count: number): void => {
      for (let n = 1; n < count; n += 1) peer.send('x', { fin: false });
      peer.send('x', { fin: true });
    };
    const lengths: number[] = [];
    const url = await serve((peer) => {
      fragments(peer, 256);
      fragments(peer, 257);
    });
    const onFrame = (data: Buffer): void => void lengths.push(data.length);
    const socket = await open(url, { onFrame });
    expect(await socket.closed).toEqual({ reason: 'too_large' });
    expect(lengths).toEqual([256]);
    const tolerant = await open(url, { onFrame, maxFragments: 257 });
    await expect.poll(() => lengths).toEqual([256, 256, 257]);
    tolerant.close();
  });

  it('is never established if the peer sends an endless series of informational responses', async () => {
    const server = createServer((socket) => {
      const more = (): void => {
        while (socket.writable && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
      };
      socket.on('error', () => undefined).on('drain', more);
      socket.once('data', more);
    });
    const url = `ws://127.0.0.1:${await listen(server)}/`;
    expect(await refusal(url, { handshakeMs: 60_000 })).toMatchObject({ kind: 'handshake' });
  });

  it('closes if it receives bytes that are not a websocket frame', async () => {
    const url = await serve((peer) => rawSocket(peer).write(Buffer.from([0xf1, 0x01, 0x78])));
    const socket = await open(url);
    expect(await socket.closed).toEqual({ reason: 'protocol_error' });
  });

  it('delivers no message that follows a protocol violation or a close frame in the same chunk', async () => {
    const message = [0x81, 0x01, 0x78];
    for (const [bytes, closing] of [
      [[0xf1, 0x01, 0x78], { reason: 'protocol_error' }],
      [[0x81, 0x81, 1, 2, 3, 4, 0x79], { reason: 'protocol_error' }],
      [[0x81, 0x7e, 0xff, 0xff], { reason: 'too_large' }],
      [[0x88, 0x02, 0x0f, 0xa1], { reason: 'remote_close', code: 4001 }],
    ] as const) {
      const frames: string[] = [];
      const url = await serve((peer) => rawSocket(peer).write(Buffer.from([...message, ...bytes, ...message])));
      const socket = await open(url, { onFrame: (data) => frames.push(data.toString()) });
      expect(await socket.closed).toEqual(closing);
      expect(frames).toEqual(['x']);
    }
  });

  it.each([
    { memory: 'keeps', isTransient: false },
    { memory: 'releases', isTransient: true },
  ])('delivers messages and fragments that arrive in pieces, and $memory their memory', async ({ isTransient }) => {
    const frames: string[] = [];
    const pong = Promise.withResolvers<string>();
    const sendBytewise = async (peer: WebSocket): Promise<void> => {
      const bytes = Buffer.from([
        ...[0x81, 0x01, 0x61, 0x89, 0x02, 0x68, 0x69, 0x81, 0x02, 0x62, 0x63],
        ...[0x01, 0x01, 0x64, 0x80, 0x01, 0x65, 0x81, 0x01, 0x66],
      ]);
      const transport = rawSocket(peer);
      transport.setNoDelay();
      for (const byte of bytes) {
        await new Promise((resolve) => transport.write(Buffer.from([byte]), resolve));
        await new Promise(setImmediate);
      }
      await pong.promise;
      peer.close(1000);
    };
    const url = await serve((peer) => {
      peer.on('pong', (data) => pong.resolve(data.toString()));
      void sendBytewise(peer);
    });
    const socket = await open(url, { isTransient, onFrame: (data) => frames.push(data.toString()) });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 1000 });
    expect({ frames, pong: await pong.promise }).toEqual({ frames: ['a', 'bc', 'de', 'f'], pong: 'hi' });
  });

  it('delivers messages of any size with the same bytes if the consumer’s messages are transient', async () => {
    const texts = Array.from({ length: 300 }, (_, n) => String(n).padEnd((n * 7919) % 90_000, 'x'));
    const url = await serve((peer) => {
      for (const text of texts) peer.send(text);
      peer.close(1000);
    });
    const frames: string[] = [];
    const onFrame = (data: Buffer): void => void frames.push(data.toString());
    const socket = await open(url, { isTransient: true, maxFrameBytes: 90_000, onFrame });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 1000 });
    expect(frames).toEqual(texts);
  });

  it('ends if the peer closes it, even if the peer sends more bytes after its close frame', async () => {
    const url = await serve((peer) => {
      const socket = (peer as unknown as { _socket: Socket })._socket;
      socket.write(Buffer.from([0x88, 2, 0x03, 0xe8]));
      // Send more bytes after the response to the close frame has arrived.
      socket.once('data', () => {
        socket.write(Buffer.alloc(300_000));
        socket.end();
      });
    });
    const socket = await open(url, { closeMs: 600_000 });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 1000 });
  });

  it.each([
    ['pongs', Buffer.from([0x8a, 0])],
    ['empty fragments', Buffer.from([0x02, 0])],
  ])('reports each read, and its processor time, if the peer sends only %s', async (_, frame) => {
    const reported = Promise.withResolvers<number>();
    const url = await serve((peer) => {
      (peer as unknown as { _socket: Socket })._socket.write(frame);
    });
    await open(url, { onRead: (cpuMs) => reported.resolve(cpuMs) });
    expect(await reported.promise).toBeGreaterThanOrEqual(0);
  });

  it('closes if the peer does not respond to a ping', async () => {
    const url = await serve((peer) => peer.ping(), { autoPong: false });
    const socket = await open(url, { pingMs: 40, pongMs: 80 });
    expect(await socket.closed).toEqual({ reason: 'pong_timeout' });
  });

  it('closes if the peer responds to pings but sends nothing', async () => {
    let pings = 0;
    const url = await serve((peer) => peer.on('ping', () => (pings += 1)));
    const socket = await open(url, { pingMs: 40, pongMs: 80, idleMs: 400 });
    expect(await socket.closed).toEqual({ reason: 'idle' });
    expect(pings).toBeGreaterThan(2);
  });

  it('stays open while the peer sends, although the peer does not respond to pings', async () => {
    const url = await serve(
      (peer) => {
        const timer = setInterval(() => peer.send('x'), 10);
        peer.on('close', () => clearInterval(timer));
        setTimeout(() => peer.close(4002), 600);
      },
      { autoPong: false },
    );
    const socket = await open(url, { pingMs: 40, pongMs: 80, idleMs: 200 });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 4002 });
  });

  it('does not count time for which this process was busy as silence of the peer', async () => {
    let frames = 0;
    const url = await serve((peer) => {
      const timer = setInterval(() => peer.send('x'), 10);
      peer.on('close', () => clearInterval(timer));
      setTimeout(() => peer.close(4003), 900);
    });
    const busy = (): void => {
      frames += 1;
      const until = performance.now() + 400;
      if (frames === 3) while (performance.now() < until);
    };
    const socket = await open(url, { pingMs: 50, pongMs: 100, idleMs: 150, onFrame: busy });
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 4003 });
  });

  it('makes the peer wait while it is paused, does not count that time as silence, and loses no message', async () => {
    const total = 20_000;
    const payload = Buffer.alloc(1024);
    const paused = Promise.withResolvers<void>();
    const peers: WebSocket[] = [];
    const url = await serve((peer) => {
      peers.push(peer);
      for (let i = 0; i < total; i += 1) peer.send(payload);
      peer.close(1000);
    });
    let frames = 0;
    const socket = await open(url, {
      pingMs: 40,
      pongMs: 40,
      idleMs: 40,
      onFrame: () => {
        frames += 1;
        if (frames === 1) paused.resolve();
      },
    });
    await paused.promise;
    socket.pause();
    // Wait for several deadlines. Messages that have already been read may still arrive.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const whilePaused = frames;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(frames).toBe(whilePaused);
    expect(frames).toBeLessThan(total);
    expect(peers[0] && rawSocket(peers[0]).writableLength).toBeGreaterThan(1_000_000);
    socket.resume();
    expect(await socket.closed).toEqual({ reason: 'remote_close', code: 1000 });
    expect(frames).toBe(total);
  });

  it('closes from this side with a handshake, delivers no further message, and ignores a second close', async () => {
    const code = Promise.withResolvers<number>();
    const url = await serve((peer) => {
      peer.once('pong', () => {
        for (let i = 0; i < 100; i += 1) peer.send('x');
      });
      // Wait for the response, which proves that the client is open.
      peer.ping();
      peer.on('close', code.resolve);
    });
    let frames = 0;
    // Use a closing timeout that is much longer than the test, because the peer's response must be read although the
    // socket was paused.
    const socket = await open(url, { closeMs: 120_000, onFrame });
    function onFrame(): void {
      frames += 1;
      if (frames !== 50) return;
      socket.pause();
      socket.close();
      socket.close();
    }
    expect(await socket.closed).toEqual({ reason: 'local_close' });
    expect(await code.promise).toBe(1000);
    expect(frames).toBe(50);
  });

  it('is terminated if the peer does not respond to the closing handshake', async () => {
    const url = await serve((peer) => peer.pause());
    const socket = await open(url, { closeMs: 50 });
    socket.close();
    expect(await socket.closed).toEqual({ reason: 'local_close' });
  }, 10_000);

  it.each([
    ['messages', 'local_close', [0x82, 2, 1, 2], [0x82, 2, 1, 2]],
    ['pings', 'local_close', [0x89, 0], [0x89, 0]],
    ['fragments', 'local_close', [0x02, 1, 1], [0x00, 1, 1]],
    ['protocol violations', 'protocol_error', [0x02, 1, 1], [0x02, 1, 1]],
  ])(
    'receives a bounded number of bytes from a peer that ignores the closing handshake and goes on sending %s',
    async (_, reason, first, next) => {
      const frame = Buffer.from(next);
      const flood = Buffer.concat(Array.from({ length: 4_000 }, () => frame));
      let sent = 0;
      const url = await serve((peer) => {
        const socket = rawSocket(peer);
        // Ignore everything that the client sends, including the end of its side.
        socket.removeAllListeners('data').removeAllListeners('end').resume();
        socket.allowHalfOpen = true;
        socket.write(Buffer.from(first));
        const send = (): void => {
          sent += flood.length;
          if (!socket.destroyed) socket.write(flood, send);
        };
        send();
      });
      const parsed = vi.spyOn(FrameLane.prototype, 'chunk');
      onTestFinished(() => parsed.mockRestore());
      const stop = new AbortController();
      // Use a closing timeout that is much longer than the test, because the number of bytes must end the connection.
      const socket = await open(url, { closeMs: 600_000, maxFragments: 1e9, maxFrameBytes: 1e9 }, stop.signal);
      stop.abort();
      const atStop = parsed.mock.calls.length;
      expect(await socket.closed).toEqual({ reason });
      expect(parsed.mock.calls.length).toBe(atStop);
      expect(sent).toBeGreaterThan(maxClosingBytes);
    },
  );

  it('parses nothing that follows the message whose consumer closed it', async () => {
    const fragment = Buffer.from([0x02, 3, 7, 7, 7]);
    const url = await serve((peer) => {
      // The response proves that the client is open.
      peer.on('pong', () => rawSocket(peer).write(Buffer.concat([Buffer.from([0x82, 1, 1]), fragment])));
      peer.ping();
    });
    // The parser of the library is a writable stream; sockets are duplex streams.
    const parsed = vi.spyOn(Writable.prototype, 'write');
    onTestFinished(() => parsed.mockRestore());
    const stop = new AbortController();
    const socket = await open(url, { onFrame: () => stop.abort() }, stop.signal);
    expect(await socket.closed).toEqual({ reason: 'local_close' });
    expect(parsed.mock.calls.filter(([bytes]) => fragment.equals(bytes as Buffer))).toEqual([]);
  });

  it('closes when the caller aborts it', async () => {
    const stop = new AbortController();
    const socket = await open(await serve(() => undefined), {}, stop.signal);
    stop.abort();
    expect(await socket.closed).toEqual({ reason: 'local_close' });
  });
});

function certificate(): { key: string; cert: string } {
  const read = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');
  return { key: read('localhost.key.pem'), cert: read('localhost.cert.pem') };
}

/** Returns the transport of a peer, for operations that the websocket library does not offer. */
function rawSocket(peer: WebSocket): Socket {
  return (peer as unknown as { _socket: Socket })._socket;
}

async function ended(socket: Socket | undefined): Promise<void> {
  if (!socket) throw new Error('no peer connected');
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

describe('a message that arrives in parts', () => {
  /** Starts a peer that sends all of a message except its last byte, and sends that byte on request. */
  async function partialMessage(length: number, options: Partial<SocketOptions>) {
    const header = Buffer.from([0x82, 0x7e, length >> 8, length & 0xff]);
    const peers: Socket[] = [];
    const url = await serve((peer) => {
      const { _socket: transport } = peer as unknown as { readonly _socket: Socket };
      peers.push(transport);
      transport.write(Buffer.concat([header, Buffer.alloc(length - 1)]));
    });
    const sizes: number[] = [];
    const frames: number[] = [];
    const socket = await open(url, {
      maxFrameBytes: 100_000,
      onPartial: (bytes) => {
        sizes.push(bytes);
        return false;
      },
      onFrame: (data) => void frames.push(data.length),
      ...options,
    });
    return { socket, sizes, frames, finish: () => peers[0]?.write(Buffer.alloc(1)) };
  }

  it('is reported with its size until it is complete', async () => {
    const { sizes, frames, finish } = await partialMessage(50_000, {});
    await expect.poll(() => sizes.at(-1)).toBe(4 + 49_999);
    expect(frames).toEqual([]);
    finish();
    await expect.poll(() => [frames, sizes.at(-1)]).toEqual([[50_000], 0]);
  });

  it('leads to a closed connection if the rest does not arrive in time', async () => {
    const { socket, sizes } = await partialMessage(50_000, { partialMs: 500 });
    expect(await socket.closed).toEqual({ reason: 'dropped' });
    expect(sizes.at(-1)).toBe(0);
  });

  it('does not begin with pings and pongs, so that the reported size stays 0', async () => {
    const sizes: number[] = [];
    const url = await serve((peer) => {
      const timer = setInterval(() => peer.ping('payload'), 40);
      peer.on('close', () => clearInterval(timer));
    });
    const socket = await open(url, {
      ...{ pingMs: 40, pongMs: 800, idleMs: 1_200, partialMs: 300 },
      onPartial: (bytes) => {
        sizes.push(bytes);
        return false;
      },
    });
    expect(await socket.closed).toEqual({ reason: 'idle' });
    expect(sizes.length).toBeGreaterThan(2);
    expect(new Set(sizes)).toEqual(new Set([0]));
  });

  it('is not read further while no memory is available for it, even if the caller resumes', async () => {
    let isOver = true;
    let seen = 0;
    const { socket, frames, finish } = await partialMessage(50_000, {
      onPartial: (bytes) => {
        seen = Math.max(seen, bytes);
        return bytes > 0 && isOver;
      },
    });
    await expect.poll(() => seen).toBeGreaterThan(0);
    finish();
    socket.pause();
    socket.resume();
    // Wait longer than the interval between two checks of the memory.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(frames).toEqual([]);
    isOver = false;
    await expect.poll(() => frames).toEqual([50_000]);
  });
});
