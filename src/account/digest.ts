import { createHash } from 'node:crypto';
import type { AccountRow, ExportManifest } from '../contract/account.ts';
import { canonicalJson } from '../contract/canonical.ts';

/**
 * The digest of an export is a chain: of the manifest, then of what it was followed by each row. Its last link
 * stands for the whole, however it was cut into pages.
 */

/** The first link: SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return createHash('sha256').update(canonicalJson(manifest)).digest();
}

/** The link after a row: SHA-256 of the 32 bytes before, followed by the canonical row. */
export function nextDigest(digest: Buffer, row: AccountRow): Buffer {
  return createHash('sha256').update(digest).update(canonicalJson(row)).digest();
}
