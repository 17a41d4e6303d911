import { hash } from 'node:crypto';
import type { ReceivedLabel } from './label.ts';

/** Length of an identity in bytes. */
export const identityBytes = 16;

/**
 * The label identity: labels with equal src, uri, cid, val, neg, cts and exp are the same observation. It excludes the
 * transport, the signature (Ozone signs again on reading), `ver` and our clock, so that a stream and a poll of one
 * label agree.
 */
export function identityOf(label: ReceivedLabel): Buffer {
  const { src, uri, cid, val, neg, cts, exp } = label;
  const normal = JSON.stringify([src, uri, cid ?? null, val, neg ?? false, cts, exp ?? null]);
  return hash('sha256', `almanac.observation/1\n${normal}`, 'buffer').subarray(0, identityBytes);
}
