import { hash } from 'node:crypto';
import type { ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/canonical.ts';

/**
 * The digest of an export is a chain over the manifest and then each row. Its last link covers the whole export,
 * regardless of its division into pages.
 */

/** Returns the first link of the chain: SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return hash('sha256', canonicalJson(manifest), 'buffer');
}

/** Returns the next link of the chain: SHA-256 of the previous link (32 bytes) followed by the row in canonical JSON. */
export function nextDigest(digest: Buffer, row: string): Buffer {
  return hash('sha256', Buffer.concat([digest, Buffer.from(row)]), 'buffer');
}
