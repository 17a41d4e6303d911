import { encode, toBytes } from '@atcute/cbor';
import { webSocketFrame } from './bytes.ts';

/** First `seq`, large enough that every `seq` of a flood occupies nine bytes of CBOR. */
export const firstSeq = 2 ** 40;

const rkeyMark = '3lzzzzzzzzzzz';
const digits = '234567abcdefghijklmnopqrstuvwxyz';

/** Properties of the labels in a flood. */
interface FloodLabels {
  readonly src: string;
  readonly nowMs: number;
  /** Number of labels per frame. */
  readonly perFrame: number;
  readonly frames: number;
  /** Size of an unknown field that is added to each label, in bytes. */
  readonly padding?: number;
  /** Signature of each label; consumers must check it although it is invalid. */
  readonly signature?: Uint8Array;
  /** DID of the account to which the labels apply. */
  readonly account: string;
}

/**
 * Creates a function that returns the next write of a flood. All labels are distinct, and a write costs little more
 * than a copy: the frames are encoded once, and each write changes only their record keys and sequence numbers.
 */
export function floodOfLabels({
  src,
  nowMs,
  perFrame,
  frames,
  padding,
  signature,
  account,
}: FloodLabels): () => Buffer {
  const label = {
    src,
    uri: `at://${account}/app.bsky.feed.post/${rkeyMark}`,
    val: 'spam',
    cts: new Date(nowMs).toISOString(),
    ...(padding === undefined ? {} : { pad: 'x'.repeat(padding) }),
    ...(signature === undefined ? {} : { sig: toBytes(new Uint8Array(signature)) }),
  };
  const body = encode({ seq: firstSeq, labels: Array.from({ length: perFrame }, () => label) });
  const frame = webSocketFrame(Buffer.concat([encode({ op: 1, t: '#labels' }), body]));
  const template = Buffer.concat(Array.from({ length: frames }, () => frame));
  const rkeys = marks(template, Buffer.from(rkeyMark)).map((at) => at + 2);
  const seqs = marks(template, Buffer.concat([encode('seq'), Buffer.from([0x1b])])).map((at) => at + 5);
  let given = 0;
  let seq = firstSeq;
  return () => {
    const bytes = Buffer.from(template);
    for (const at of rkeys) writeDigits(bytes, at, given++);
    for (const at of seqs) bytes.writeBigUInt64BE(BigInt(seq++), at);
    return bytes;
  };
}

/**
 * Creates a function that returns the next write of a flood: frames without labels, with increasing sequence numbers.
 */
export function floodOfEmptyFrames(frames: number): () => Buffer {
  const body = encode({ seq: firstSeq, labels: [] });
  const frame = webSocketFrame(Buffer.concat([encode({ op: 1, t: '#labels' }), body]));
  const template = Buffer.concat(Array.from({ length: frames }, () => frame));
  const seqs = marks(template, Buffer.concat([encode('seq'), Buffer.from([0x1b])])).map((at) => at + 5);
  let seq = firstSeq;
  return () => {
    const bytes = Buffer.from(template);
    for (const at of seqs) bytes.writeBigUInt64BE(BigInt(seq++), at);
    return bytes;
  };
}

/** Returns the labels of a page. All of them are different. */
export function pageLabels(src: string, account: string, from: number, count: number, nowMs: number): unknown[] {
  const cts = new Date(nowMs).toISOString();
  return Array.from({ length: count }, (_, at) => {
    const key = Buffer.from(rkeyMark);
    writeDigits(key, 2, from + at);
    return { src, uri: `at://${account}/app.bsky.feed.post/${key.toString('latin1')}`, val: 'spam', cts };
  });
}

function marks(bytes: Buffer, mark: Buffer): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found.push(at);
  return found;
}

function writeDigits(bytes: Buffer, at: number, number: number): void {
  let rest = number;
  for (let place = 10; place >= 0; place--) {
    bytes[at + place] = digits.charCodeAt(rest % 32);
    rest = Math.floor(rest / 32);
  }
}
