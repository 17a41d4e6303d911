import { hash } from 'node:crypto';
import type { ReceivedLabel } from './label.ts';

/** Bytes of an identity. */
export const identityBytes = 16;

/**
 * What makes two labels the same observation: src, uri, cid, val, neg, cts and exp. The transport, the signature
 * (Ozone signs again on reading), `ver` and our clock are not in it, so a stream and a poll of one label agree.
 */
export function identityOf(label: ReceivedLabel): Buffer {
  const { src, uri, cid, val, neg, cts, exp } = label;
  const normal = JSON.stringify([src, uri, cid ?? null, val, neg ?? false, cts, exp ?? null]);
  return hash('sha256', `almanac.observation/1\n${normal}`, 'buffer').subarray(0, identityBytes);
}
