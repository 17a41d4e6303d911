import { hash } from 'node:crypto';
import type { ReceivedLabel } from './label.ts';

/** Length of an identity in bytes. */
export const identityBytes = 16;

/**
 * Returns the label identity: labels with equal src, uri, cid, val, neg, cts and exp are the same observation. The
 * identity excludes the transport, the signature (Ozone signs a label again for each response), `ver`, `extra` and the
 * local clock, so that a label has the same identity whether it arrives in the stream or in a poll.
 */
export function identityOf(label: ReceivedLabel): Buffer {
  const { src, uri, cid, val, neg, cts, exp } = label;
  const normal = JSON.stringify([src, uri, cid ?? null, val, neg ?? false, cts, exp ?? null]);
  return hash('sha256', `almanac.observation/1\n${normal}`, 'buffer').subarray(0, identityBytes);
}
