/** The parts of a DNS question (RFC 1035) that the name server needs. */
interface Question {
  readonly id: number;
  /** Queried name in lower case, without the trailing dot. */
  readonly name: string;
  /** Queried type, or null if it is not supported. */
  readonly type: DnsRecord['type'] | null;
  /** Bytes of the question section, which the response repeats. */
  readonly bytes: Buffer;
}

/** A record in a response. */
export interface DnsRecord {
  readonly type: 'A' | 'AAAA' | 'TXT';
  readonly ttlSeconds: number;
  /** An address, or a text of at most 255 characters. */
  readonly value: string;
}

/** Numbers of the supported DNS record types. */
const recordTypes = { A: 1, TXT: 16, AAAA: 28 } as const;
/** DNS response codes (RCODE, RFC 1035) that the name server sends. */
export const responseCodes = { noError: 0, serverFailure: 2, noSuchName: 3 } as const;

const headerBytes = 12;

/** Reads the first question of a query. Returns null if the message is not supported. */
export function readQuestion(message: Buffer): Question | null {
  if (message.length < headerBytes || message.readUInt16BE(4) < 1) return null;
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = message[at];
    // Reject a compressed name: a question may contain one, but resolvers send none.
    if (length === undefined || length > 63) return null;
    if (length === 0) break;
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  if (message.length < at + 5) return null;
  const bytes = message.subarray(headerBytes, at + 5);
  const number = message.readUInt16BE(at + 1);
  const type = (['A', 'AAAA', 'TXT'] as const).find((one) => recordTypes[one] === number) ?? null;
  return { id: message.readUInt16BE(0), name: labels.join('.'), type, bytes };
}

/** Encodes a response with the records of the type that the question asks for. */
export function writeAnswer(question: Question, code: number, records: readonly DnsRecord[]): Buffer {
  const given = records.filter(({ type }) => type === question.type);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(question.id, 0);
  // Set the flags QR (response), RD (recursion desired) and RA (recursion available).
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(given.length, 6);
  return Buffer.concat([header, question.bytes, ...given.map(encoded)]);
}

function encoded({ type, ttlSeconds, value }: DnsRecord): Buffer {
  const data = dataOf(type, value);
  const head = Buffer.alloc(12);
  // Encode the name as a pointer to the question's name.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(recordTypes[type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
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
