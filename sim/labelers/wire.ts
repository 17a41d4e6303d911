import { encode, toBytes } from '@atcute/cbor';
import type { LoggedLabel } from './label-log.ts';
import type { SigningKey } from './signing-key.ts';

const signedFields: ReadonlySet<string> = new Set(['ver', 'src', 'uri', 'cid', 'val', 'neg', 'cts', 'exp']);

/**
 * Returns a label with its signature, as it is served. Fields outside the lexicon are not signed, like the row numbers
 * of real servers. A label is returned without a signature if there is no key, if its oddity is `unsigned`, or if it is
 * not an object.
 */
export function signed({ label, odd }: LoggedLabel, key: SigningKey | null): unknown {
  if (key === null || odd === 'unsigned' || typeof label !== 'object' || label === null) return label;
  const known = Object.fromEntries(Object.entries(label).filter(([name]) => signedFields.has(name)));
  const signature = key.sign(encode(known), { highS: odd === 'high_s' });
  if (odd === 'bad_signature') signature[40] = (signature[40] ?? 0) ^ 1;
  return { ...label, sig: toBytes(signature) };
}

/** Builds a `#labels` frame. */
export function labelsFrame(seq: number, labels: readonly unknown[]): Uint8Array {
  return frame({ op: 1, t: '#labels' }, { seq, labels });
}

/** Builds an `#info` frame. */
export function infoFrame(name: string, message: string): Uint8Array {
  return frame({ op: 1, t: '#info' }, { name, message });
}

/** Builds an error frame. The stream must end after it. */
export function errorFrame(error: string, message: string): Uint8Array {
  return frame({ op: -1 }, { error, message });
}

/** Malformed frames, by name. */
export const garbageFrames: Readonly<Record<string, Uint8Array | string>> = {
  text: 'hello',
  empty: new Uint8Array(0),
  'no cbor': Uint8Array.from([0xff, 0xff, 0xff]),
  'header alone': encode({ op: 1, t: '#labels' }),
  'truncated body': labelsFrame(1, []).subarray(0, -3),
  'unknown type': frame({ op: 1, t: '#poem' }, { text: 'ohne Worte' }),
  'unknown operation': frame({ op: 9, t: '#labels' }, { seq: 1, labels: [] }),
  'no labels': frame({ op: 1, t: '#labels' }, { seq: 1 }),
  'labels is a string': frame({ op: 1, t: '#labels' }, { seq: 1, labels: 'none' }),
  'seq is a string': frame({ op: 1, t: '#labels' }, { seq: '1', labels: [] }),
};

function frame(header: unknown, body: unknown): Uint8Array {
  return Buffer.concat([encode(header), encode(body)]);
}
