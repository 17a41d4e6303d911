/** The parts of a DNS question (RFC 1035) that the name server needs. */
interface Question {
  readonly id: number;
  /** Queried name in lower case, without the trailing dot. */
  readonly name: string;
  readonly type: number;
  /** Bytes of the question section, which the response repeats. */
  readonly bytes: Buffer;
}

/** Numbers of the supported DNS record types. */
const recordTypes = { a: 1, txt: 16, aaaa: 28 } as const;
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
  return { id: message.readUInt16BE(0), name: labels.join('.'), type: message.readUInt16BE(at + 1), bytes };
}

/** Encodes a response with IPv4 addresses. The answer section is empty unless the question asks for type A. */
export function writeAnswer(
  question: Question,
  code: number,
  addresses: readonly string[],
  ttlSeconds: number,
): Buffer {
  const given = question.type === recordTypes.a ? addresses : [];
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(question.id, 0);
  // Set the flags QR (response), RD (recursion desired) and RA (recursion available).
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(given.length, 6);
  const records = given.map((address) => {
    const record = Buffer.alloc(16);
    // Encode the name as a pointer to the question's name.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(recordTypes.a, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttlSeconds, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([header, question.bytes, ...records]);
}
