import { createSocket } from 'node:dgram';

/** A record in a response. */
export interface DnsRecord {
  readonly type: 'A' | 'AAAA' | 'TXT';
  readonly ttl: number;
  /** Value of the record: an address, or a text of at most 255 characters. */
  readonly value: string;
}

/**
 * Response to a query: records of the requested type, `none` (the name does not exist), `failure` (SERVFAIL), or
 * `silence` (no response).
 */
export type DnsAnswer = readonly DnsRecord[] | 'none' | 'failure' | 'silence';

/** A DNS server on loopback. */
export interface DnsServer {
  /** Address in the format of `Resolver.setServers`. */
  readonly address: string;
  /** Queries received so far, each as `name type`. */
  readonly asked: string[];
  stop(): Promise<void>;
}

const types = { A: 1, TXT: 16, AAAA: 28 } as const;

/** Returns the environment variables that make a process query only this server. */
export function dnsEnvironment({ address }: DnsServer): Readonly<Record<string, string>> {
  const preload = new URL('./dns-preload.ts', import.meta.url).href;
  return { TEST_DNS_SERVER: address, NODE_OPTIONS: `--import ${preload}` };
}

/** Starts a server. `answer` determines the response to each query. */
export async function startDnsServer(answer: (name: string, type: DnsRecord['type']) => DnsAnswer): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const { name, type, end } = readQuestion(message);
    const known = (Object.keys(types) as DnsRecord['type'][]).find((one) => types[one] === type);
    if (known === undefined) return;
    asked.push(`${name} ${known}`);
    const given = answer(name, known);
    if (given === 'silence') return;
    const records = typeof given === 'string' ? [] : given.filter((record) => record.type === known);
    const code = given === 'none' ? 3 : given === 'failure' ? 2 : 0;
    socket.send(reply(message.subarray(0, end), code, records), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, code: number, records: readonly DnsRecord[]): Buffer {
  const header = Buffer.from(question);
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, ...records.map(encode)]);
}

/** Encodes one record. Its name is a pointer to the name in the query. */
function encode({ type, ttl, value }: DnsRecord): Buffer {
  const data = dataOf(type, value);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(types[type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(type: DnsRecord['type'], value: string): Buffer {
  switch (type) {
    case 'A':
      return Buffer.from(value.split('.').map(Number));
    case 'AAAA':
      // Supports only the full notation of an IPv6 address, with eight groups of hexadecimal digits.
      return Buffer.from(value.split(':').flatMap((group) => [...Buffer.from(group.padStart(4, '0'), 'hex')]));
    case 'TXT':
      return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
  }
}
