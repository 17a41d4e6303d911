import { hash } from 'node:crypto';
import type { ExportManifest } from '../contract/account.ts';
import { canonicalJson } from '../contract/canonical.ts';

/**
 * The digest of an export is a chain: of the manifest, then of what it was followed by each row. Its last link
 * stands for the whole, however it was cut into pages.
 */

/** The first link: SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return hash('sha256', canonicalJson(manifest), 'buffer');
}

/** The link after a row, given as canonical JSON: SHA-256 of the 32 bytes before, followed by it. */
export function nextDigest(digest: Buffer, row: string): Buffer {
  return hash('sha256', Buffer.concat([digest, Buffer.from(row)]), 'buffer');
}
