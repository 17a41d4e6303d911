/**
 * Templates of frames. A template is a websocket text frame including its header. Its variable parts have a fixed width
 * and are overwritten in place, so a frame costs little more than a copy of its bytes.
 */

/**
 * Variable parts of a frame. In the text of a template, each is represented by one character of the private use area.
 */
export const slot = {
  /** Slot of 24 characters for the actor's did:plc. */
  actor: '\uE001',
  /** Slot of 24 characters for another account's did:plc. */
  subject: '\uE002',
  /** Slot of 16 digits for `time_us`. */
  time: '\uE003',
  /** Slot of 15 digits for the sequence number. */
  seq: '\uE004',
  /** Slot of 13 characters for the TID of the commit. */
  rev: '\uE005',
  /** Slot of 13 characters for the record key, a TID 1 to 5 ms before the event. */
  rkey: '\uE006',
  /** Slot of 24 characters for `createdAt`, a datetime up to two seconds before the event. */
  created: '\uE007',
  /** Slot of 8 random characters in a CID. */
  cid: '\uE008',
  /** Slot of 27 characters for the event's time as a datetime with six decimals. */
  iso: '\uE009',
} as const;

const widths: readonly number[] = [0, 24, 24, 16, 15, 13, 13, 24, 8, 27];
const firstSlot = 0xe000;

/** The bytes of a frame, and its slots as pairs of slot code and offset. */
export interface Template {
  readonly bytes: Uint8Array;
  readonly slots: Uint32Array;
  /** Index of the template's species. */
  readonly species: number;
}

const encoder = new TextEncoder();

/** Compiles the text of a frame. A frame that is given as bytes becomes a binary message without slots. */
export function compileTemplate(text: string | Uint8Array, species: number): Template {
  if (typeof text !== 'string') return { bytes: framed(text, 0x82), slots: new Uint32Array(0), species };
  const parts: Uint8Array[] = [];
  const found: number[] = [];
  let length = 0;
  let from = 0;
  const add = (part: Uint8Array): void => {
    parts.push(part);
    length += part.length;
  };
  for (const { 0: mark, index } of text.matchAll(/[\uE001-\uE009]/g)) {
    add(encoder.encode(text.slice(from, index)));
    const kind = mark.charCodeAt(0) - firstSlot;
    found.push(kind, length);
    add(new Uint8Array(widths[kind] ?? 0).fill(0x78));
    from = index + 1;
  }
  add(encoder.encode(text.slice(from)));
  const bytes = framed(Buffer.concat(parts), 0x81);
  const shift = bytes.length - length;
  return { bytes, slots: Uint32Array.from(found, (value, at) => (at % 2 === 0 ? value : value + shift)), species };
}

/**
 * Wraps a payload in one unmasked, final websocket frame. `first` is the byte with the opcode: 0x81 for text, 0x82 for
 * binary.
 */
export function framed(payload: Uint8Array, first = 0x81): Uint8Array {
  const size = payload.length;
  const head = size < 126 ? 2 : size < 65_536 ? 4 : 10;
  const bytes = Buffer.alloc(head + size);
  bytes[0] = first;
  if (head === 2) bytes[1] = size;
  else if (head === 4) {
    bytes[1] = 126;
    bytes.writeUInt16BE(size, 2);
  } else {
    bytes[1] = 127;
    bytes.writeBigUInt64BE(BigInt(size), 2);
  }
  bytes.set(payload, head);
  return bytes;
}

/** Returns the payload of a compiled frame, as a consumer receives it. */
export function payloadOf(frame: Uint8Array): Uint8Array {
  const marker = frame[1] ?? 0;
  return frame.subarray(marker < 126 ? 2 : marker === 126 ? 4 : 10);
}
