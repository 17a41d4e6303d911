import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { certificate } from '../net/listen.ts';
import { childrenOf, memoryMib } from '../process/process-tree.ts';

/** Runs hostile and honest clients against the account surface and collects the responses to the honest ones. */

/**
 * Node.js options of the unit in `deploy/systemd`. A siege (a load test with hostile clients) uses the production
 * configuration.
 */
export const unitEnvironment: Readonly<Record<string, string>> = {
  NODE_OPTIONS:
    /^Environment=NODE_OPTIONS=(.+)$/m.exec(
      readFileSync(new URL('../../deploy/systemd/almanac-account.service', import.meta.url), 'utf8'),
    )?.[1] ?? '',
};

/** Connection path from the clients to the service. It determines the client addresses that the service sees. */
export type Way =
  /** Direct connections, each client from its own loopback address. */
  | { readonly kind: 'direct'; readonly port: number }
  /** Connections on which the siege acts as a trusted proxy, so that it can choose any client address. */
  | { readonly kind: 'forwarded'; readonly port: number }
  /** Connections through nginx or Caddy, each client from its own loopback address. */
  | { readonly kind: 'proxied'; readonly port: number; readonly host: string; readonly tls: boolean };

/** DIDs of the accounts that the clients request. */
export interface SiegeTargets {
  /** DID of an account with few rows. */
  readonly plain: string;
  /** DID of an account with more rows than an export may have. */
  readonly hot: string;
  /** DID of an account whose labels are almost as large as the store permits. */
  readonly large: string;
}

/** Address of a client: a local address to connect from, or header fields that carry a forwarded address. */
interface Client {
  readonly localAddress: string | undefined;
  readonly fields: string;
}

/** Everything that a hostile client uses: its targets, and functions to connect and to write requests. */
interface Attack {
  readonly stopped: AbortSignal;
  readonly targets: SiegeTargets;
  /** Cursor of an export of the account with large labels. */
  readonly cursor: string;
  /** Path of a download of the account with large labels. */
  readonly download: string;
  open(client?: Client): Promise<Socket>;
  get(path: string, more?: string): string;
  /**
   * Returns a client in an unused /64 network of one site, or undefined if the siege cannot choose client addresses.
   */
  stranger(): Client | undefined;
}

type Kind = (attack: Attack) => Promise<void>;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

function closed(socket: Socket, signal: AbortSignal, atMostMs: number): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, atMostMs);
    socket.once('close', done).once('end', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Creates a kind that opens one connection and ends it after `act`. */
function onSocket(act: (socket: Socket, attack: Attack) => unknown): Kind {
  return async (attack) => {
    const socket = await attack.open();
    await act(socket, attack);
    socket.destroy();
  };
}

/** Resolves with the first bytes of a response, or as `closed` does. */
function answered(socket: Socket, stopped: AbortSignal): Promise<unknown> {
  return Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed(socket, stopped, 5_000)]);
}

const shapes = [
  'GET /health\r\n\r\n',
  'POST /exports HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
];

/** All kinds of hostile clients, named after their behaviour. */
export const hostileKinds = {
  /**
   * Opens up to four connections per second, sends a request on each and never reads the response. Keeps at most 60
   * connections open.
   */
  async neverReads({ open, get, stopped, cursor }) {
    const sockets: Socket[] = [];
    while (!stopped.aborted) {
      const socket = await open();
      socket.pause().write(get(`/exports?cursor=${cursor}`));
      sockets.push(socket);
      if (sockets.length > 60) sockets.shift()?.destroy();
      await pause(250, stopped);
    }
    for (const socket of sockets) socket.destroy();
  },
  readsByteByByte: onSocket(async (socket, { get, stopped, cursor }) => {
    socket.pause().write(get(`/exports?cursor=${cursor}`));
    while (!stopped.aborted && !socket.destroyed) {
      socket.read(1);
      await pause(1_000, stopped);
    }
  }),
  halfAHead: onSocket((socket, { stopped }) => {
    socket.resume().write('GET /account HTTP/1.1\r\nHost: a\r\nX-Half: ');
    return closed(socket, stopped, 60_000);
  }),
  slowBody: onSocket(async (socket, { get, stopped }) => {
    socket.resume().write(get('/exports', 'Content-Length: 1000\r\n'));
    while (!stopped.aborted && socket.writable) {
      socket.write('x');
      await pause(1_000, stopped);
    }
  }),
  pipelines: onSocket((socket, { get, stopped, cursor }) => {
    socket.pause().write(get(`/exports?cursor=${cursor}`).repeat(500));
    return closed(socket, stopped, 5_000);
  }),
  hugeHeads: onSocket((socket, { get, stopped }) => {
    socket.resume().write(get('/account', `X-Pad: ${'a'.repeat(200_000)}\r\n`));
    return closed(socket, stopped, 5_000);
  }),
  ranges: onSocket((socket, { get, stopped, targets }) => {
    const many = Array.from({ length: 500 }, (_, n) => `${n}-${n}`).join(',');
    socket.resume().write(get(`/account?did=${targets.hot}`, `Range: bytes=${many}\r\n`));
    return pause(500, stopped);
  }),
  hotAccount: onSocket((socket, { get, stopped, targets }) => {
    socket.resume().write(get(`/exports?did=${targets.hot}`));
    return answered(socket, stopped);
  }),
  garbageCursors: onSocket(async (socket, { get, stopped }) => {
    socket.resume();
    for (let n = 0; n < 50 && !stopped.aborted && socket.writable; n++) {
      socket.write(get(`/exports?cursor=${randomBytes(300).toString('base64url')}`));
      await pause(10, stopped);
    }
  }),
  async reconnects({ open, get, stopped, targets }) {
    for (let n = 0; n < 20 && !stopped.aborted; n++) {
      const socket = await open();
      socket.write(get(`/account?did=${targets.plain}`));
      await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    }
  },
  async manyNetworks({ open, get, stopped, stranger }) {
    const client = stranger();
    const socket = await open(client);
    const did = `did:web:x${randomBytes(6).toString('hex')}.example`;
    socket.resume().write(get(`/account?did=${did}`, client?.fields));
    await answered(socket, stopped);
    socket.destroy();
  },
  abandons: onSocket((socket, { get, stopped, download }) => {
    socket.write(get(download));
    return answered(socket, stopped);
  }),
  idles: onSocket((socket, { get, stopped }) => {
    socket.resume().write(get('/health'));
    return closed(socket, stopped, 120_000);
  }),
  async smuggles({ open, stopped }) {
    for (const shape of shapes) {
      if (stopped.aborted) return;
      const socket = await open();
      socket.resume().write(shape);
      await closed(socket, stopped, 500);
      socket.destroy();
    }
  },
} satisfies Record<string, Kind>;

/** Result of an honest client's request. */
export interface HonestAnswer {
  /** HTTP status, or 0 if no complete response arrived. */
  readonly status: number;
  readonly retryAfter: boolean;
  readonly ms: number;
  /** Path of the request, without its query. */
  readonly path: string;
}

interface SiegeOutcome {
  readonly answers: readonly HonestAnswer[];
  /** Maximum resident memory of the service and its reading processes together, in MB. */
  readonly peakMb: number;
}

interface SiegeOptions {
  readonly way: Way;
  readonly targets: SiegeTargets;
  /** Number of hostile clients. */
  readonly hostile: number;
  /** Number of honest clients. */
  readonly honest: number;
  /** Process id of the service. */
  readonly pid: number;
  /** Signal that ends the siege. */
  readonly stop: AbortSignal;
}

/** Runs a siege of the service until `stop` is aborted. */
export async function besiege({ way, targets, hostile, honest, pid, stop }: SiegeOptions): Promise<SiegeOutcome> {
  const honestClients = Array.from({ length: honest }, (_, n) => clientNo(way, 10, n));
  const [cursor, download] = await wayIn(way, targets.large, clientNo(way, 11, 0));
  const answers: HonestAnswer[] = [];
  let peakMb = 0;
  const meter = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid));
  }, 250);
  let strangers = 0;
  const kinds = Object.values(hostileKinds);
  const attackers = Array.from({ length: hostile }, async (_, n) => {
    const kind = kinds[n % kinds.length] ?? hostileKinds.neverReads;
    const own = clientNo(way, 20, n);
    const attack: Attack = {
      stopped: stop,
      targets,
      cursor,
      download,
      open: (client = own) => opened(way, client),
      get: (path, more = '') => requestText(way, path, `${own.fields}${more}`),
      stranger: () => {
        strangers += 1;
        return way.kind === 'forwarded'
          ? {
              localAddress: undefined,
              fields: `X-Forwarded-For: 2001:db8:7:${(strangers % 65_536).toString(16)}::1\r\n`,
            }
          : undefined;
      },
    };
    while (!stop.aborted) {
      await kind(attack).catch(() => undefined);
      await pause(20, stop);
    }
  });
  const readers = honestClients.map(async (client, n) => {
    const paths = ['/health', `/account?did=${targets.plain}`, `/exports?did=${targets.plain}&days=7`];
    for (let turn = n; !stop.aborted; turn++) {
      const answer = await ask(way, client, paths[turn % paths.length] ?? '/health', stop);
      if (answer) answers.push(answer);
      await pause(300, stop);
    }
  });
  await Promise.all([...attackers, ...readers]);
  clearInterval(meter);
  return { answers, peakMb };
}

/** Returns the given quantile of the numbers, or 0 for an empty list. `share` is between 0 and 1. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function clientNo(way: Way, group: number, n: number): Client {
  const address = `${group}.${Math.floor(n / 250)}.${(n % 250) + 1}`;
  if (way.kind === 'forwarded') return { localAddress: undefined, fields: `X-Forwarded-For: 198.${address}\r\n` };
  return { localAddress: `127.${address}`, fields: '' };
}

function requestText(way: Way, path: string, fields: string): string {
  const host = way.kind === 'proxied' ? way.host : 'a';
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`;
}

function opened(way: Way, { localAddress }: Client): Promise<Socket> {
  const at = { host: '127.0.0.1', port: way.port, ...(localAddress === undefined ? {} : { localAddress }) };
  const tls = way.kind === 'proxied' && way.tls;
  return new Promise((resolve, reject) => {
    const socket = tls
      ? connectTls({ ...at, servername: way.host, ca: certificate().cert, checkServerIdentity: () => undefined })
      : connect(at);
    // Keep the listener: without it, an error on a hostile connection would end the whole process.
    socket.on('error', (error) => reject(error));
    socket.once(tls ? 'secureConnect' : 'connect', () => resolve(socket));
    socket.once('close', () => reject(new Error('closed')));
  });
}

/**
 * Sends a request on a separate connection, like an honest client. Resolves with null if the siege ended before the
 * response.
 */
async function ask(way: Way, client: Client, path: string, stop: AbortSignal): Promise<HonestAnswer | null> {
  const began = performance.now();
  const text = await exchanged(way, client, path).catch(() => '');
  if (stop.aborted) return null;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
  const [route = path] = path.split('?');
  return { status, retryAfter: /^retry-after: \d+/im.test(text), ms: performance.now() - began, path: route };
}

async function exchanged(way: Way, client: Client, path: string): Promise<string> {
  const socket = await opened(way, client);
  socket.write(requestText(way, path, `${client.fields}Connection: close\r\n`));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('latin1');
  const head = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length - head - 4 >= length ? text : '';
}

/**
 * Creates an export of the account. Returns its first cursor and the path of the download on the account page. Throws
 * if the service provides no cursor or no download.
 */
async function wayIn(way: Way, account: string, client: Client): Promise<readonly [string, string]> {
  const created = await exchanged(way, client, `/exports?did=${account}`);
  const cursor = /"cursor":"([\w-]+)"/.exec(created)?.[1];
  const page = await exchanged(way, client, `/account?did=${account}`);
  const download = /href="(\/download\?cursor=[\w-]+)"/.exec(page)?.[1];
  if (cursor === undefined || download === undefined)
    throw new Error(`the export was not created: ${created.slice(0, 300)}`);
  return [cursor, download];
}

function residentMb(pid: number): number {
  try {
    return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + memoryMib(one, 'VmRSS'), 0);
  } catch {
    // Ignore the error: the process exited before its memory could be read.
    return 0;
  }
}
