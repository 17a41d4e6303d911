import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Coding } from './accept-encoding.ts';
import { encode } from './compress.ts';

/** A file of the built program that is served as it is; read again only when it changed on disk. */
export interface AssetFile {
  /** Its bytes in a coding, or null when it is missing or cannot be read. */
  bytes(coding: Coding): AssetBytes | null;
}

/** An asset in a coding. */
export interface AssetBytes {
  readonly bytes: Buffer;
  readonly coding: Coding;
  /** Weak validator of what was encoded: the same in every coding and every process. */
  readonly etag: string;
}

const suffixes = { br: '.br', gzip: '.gz' } as const;

/**
 * An asset at a path. A compressed file next to it (`.br`, `.gz`), written by the build, is preferred to compressing
 * here; `change` makes the served bytes from those of the file.
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
