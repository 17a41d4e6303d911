import { hash } from 'node:crypto';
import type { ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/encodings.ts';

/**
 * Digest of an export: a chain over the manifest and then each row. The last digest of the chain covers the whole
 * export, regardless of its division into pages.
 */

/** Returns the first digest of the chain: the SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return hash('sha256', canonicalJson(manifest), 'buffer');
}

/**
 * Returns the next digest of the chain: the SHA-256 of the previous digest (32 bytes) followed by the row as canonical
 * JSON.
 */
export function nextDigest(digest: Buffer, row: string): Buffer {
  return hash('sha256', Buffer.concat([digest, Buffer.from(row)]), 'buffer');
}
