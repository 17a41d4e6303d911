import { createHash } from 'node:crypto';

/** Returns the SHA-256 digest of bytes, in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
