import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Coding } from './accept-encoding.ts';
import { encode } from './compress.ts';

/** A static file of the built program, which is cached and read again after a change on disk. */
export interface AssetFile {
  /** Returns the file's bytes in a coding, or null if the file is missing or unreadable. */
  bytes(coding: Coding): AssetBytes | null;
}

/** Bytes of an asset in one content coding. */
export interface AssetBytes {
  readonly bytes: Buffer;
  readonly coding: Coding;
  /** Weak validator of the decoded content, which is the same in every coding and every process. */
  readonly etag: string;
}

const suffixes = { br: '.br', gzip: '.gz' } as const;

/**
 * Creates the asset for a file. The compressed files that the build writes next to it (`.br`, `.gz`) are used if they
 * exist; `change` converts the file's bytes to the served bytes.
 */
export function assetFile(path: string, change: (bytes: Buffer) => Buffer = (bytes) => bytes): AssetFile {
  let stamp = '';
  const made = new Map<Coding, AssetBytes>();

  function current(): boolean {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile()) return false;
    const now = `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    if (now !== stamp) {
      made.clear();
      stamp = now;
    }
    return true;
  }

  return {
    bytes(coding) {
      try {
        if (!current()) return null;
        const known = made.get(coding);
        if (known) return known;
        const plain = change(readFileSync(path));
        const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
        const found = { bytes: twin(path, coding) ?? encode(plain, coding), coding, etag: `W/"${digest}"` };
        made.set(coding, found);
        return found;
      } catch {
        // An unreadable file is treated like a missing one, which the caller reports to the client.
        return null;
      }
    },
  };
}

function twin(path: string, coding: Coding): Buffer | null {
  if (coding === 'identity') return null;
  const compressed = path + suffixes[coding];
  return statSync(compressed, { throwIfNoEntry: false })?.isFile() ? readFileSync(compressed) : null;
}
