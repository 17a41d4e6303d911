import { encode } from '@atcute/cbor';
import type { Dialect } from './profile.ts';
import { labelsFrame } from './wire.ts';

/** Returns a signed label in a dialect. The signature covers the label without the dialect. */
export function inDialect(label: unknown, dialect: Dialect | undefined): unknown {
  if (typeof label !== 'object' || label === null) return label;
  if (dialect === 'nulls') return { cid: null, exp: null, neg: null, ...label };
  if (dialect !== 'other_types') return label;
  const { neg, ver } = label as Readonly<Record<string, unknown>>;
  const loose = {
    ...(typeof ver === 'number' ? { ver: String(ver) } : {}),
    ...(typeof neg === 'boolean' || neg === undefined ? { neg: neg === true ? 1 : 0 } : {}),
  };
  return { cid: '', exp: '', ...label, ...loose };
}

/** Builds a frame with labels in a dialect. */
export function frameInDialect(seq: number, labels: readonly unknown[], dialect: Dialect | undefined): Uint8Array {
  const isThird = seq % 3 === 0;
  if (dialect === 'types_in_full') return frame('com.atproto.label.subscribeLabels#labels', encode({ seq, labels }));
  if (dialect === 'unknown_types' && isThird) return frame('#labelsAndMore', encode({ seq, labels }));
  if (dialect === 'two_messages' && isThird) return Buffer.concat([labelsFrame(seq, []), labelsFrame(seq, labels)]);
  if (dialect === 'wide_integers' && isThird) return frame('#labels', withWideNumber(seq, labels));
  return labelsFrame(seq, labels);
}

/** Returns the body of a page of `queryLabels` in a dialect. */
export function pageInDialect(body: unknown, dialect: Dialect | undefined): unknown {
  if (dialect !== 'null_lists' || typeof body !== 'object' || body === null) return body;
  const { labels, cursor, ...others } = body as Readonly<Record<string, unknown>>;
  const isEmpty = Array.isArray(labels) && labels.length === 0;
  return { ...others, labels: isEmpty ? null : labels, ...(cursor === undefined ? {} : { cursor: Number(cursor) }) };
}

function frame(t: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([encode({ op: 1, t }), body]);
}

/** Encodes the body of a frame with a number of eight bytes. */
function withWideNumber(seq: number, labels: readonly unknown[]): Uint8Array {
  const number = Buffer.alloc(9, 0x1b);
  number.writeBigUInt64BE(BigInt(seq), 1);
  const map = Uint8Array.of(0xa2);
  return Buffer.concat([map, encode('seq'), number, encode('labels'), encode(labels)]);
}
