import { gzipSync } from 'node:zlib';
import { encode } from '@atcute/cbor';

/** Cached inputs, shared by all senders. */
const made = new Map<string, Buffer>();

function once(name: string, make: () => Buffer): Buffer {
  const known = made.get(name);
  if (known) return known;
  const bytes = make();
  made.set(name, bytes);
  return bytes;
}

/** Builds an unmasked websocket frame, as a server sends it. */
export function webSocketFrame(payload: Uint8Array, { opcode = 2, final = true } = {}): Buffer {
  const first = (final ? 0x80 : 0) | opcode;
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload]);
  const header = Buffer.alloc(length < 65_536 ? 4 : 10);
  header[0] = first;
  header[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) header.writeUInt16BE(length, 2);
  else header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, payload]);
}

const labelsHeader = encode({ op: 1, t: '#labels' });

/**
 * Builds a websocket frame of CBOR that decodes to a very large number of small values. `where` is their location in
 * the message.
 */
export function wideFrame(
  item: 'array' | 'map' | 'integer' | 'text',
  where: 'labels' | 'field',
  count: number,
): Buffer {
  return once(`wide ${item} ${where} ${count}`, () => {
    const byte = { array: 0x80, map: 0xa0, integer: 0x01, text: 0x60 }[item];
    const items = Buffer.concat([head(4, count), Buffer.alloc(count, byte)]);
    const text = (value: string): Uint8Array => encode(value);
    const body =
      where === 'labels'
        ? [head(5, 2), text('seq'), encode(1), text('labels'), items]
        : [head(5, 2), text('seq'), encode(1), text('labels'), head(4, 1), head(5, 1), text('x'), items];
    return webSocketFrame(Buffer.concat([labelsHeader, ...body]));
  });
}

/** Builds a websocket frame of CBOR that is nested to the given depth. */
export function deepFrame(depth: number): Buffer {
  return once(`deep ${depth}`, () => {
    const nest = Buffer.concat([Buffer.alloc(depth, 0x81), Buffer.from([0x80])]);
    return webSocketFrame(
      Buffer.concat([labelsHeader, head(5, 2), encode('seq'), encode(1), encode('labels'), head(4, 1), nest]),
    );
  });
}

/** Builds a small gzip body that decompresses to a page of `count` + 1 empty arrays. */
export function gzipPage(count: number): Buffer {
  return once(`gzip ${count}`, () => gzipSync(`{"labels":[${'[],'.repeat(count)}[]]}`));
}

/** Builds a JSON array that is nested to the given depth. */
export function deepJson(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

/**
 * Builds the head of a CBOR item, consisting of its major type and length. DAG-CBOR requires the shortest form; this
 * head has it only for lengths below 24 and from 65,536.
 */
function head(major: number, length: number): Buffer {
  const type = major << 5;
  if (length < 24) return Buffer.from([type | length]);
  const bytes = Buffer.alloc(5);
  bytes[0] = type | 26;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}
