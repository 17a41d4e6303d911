import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type Coding, encode, encodeSmallest } from './negotiation.ts';

/** A static file of the built program. It is cached, and read again after it has changed on disk. */
export interface AssetFile {
  /** Returns the file's bytes in a content coding; null if the file is missing or unreadable. */
  bytes(coding: Coding): AssetBytes | null;
}

/** Bytes of an asset in one content coding. */
interface AssetBytes {
  readonly bytes: Buffer;
  readonly coding: Coding;
  /** Validator of the content. It is the same in every process. */
  readonly etag: string;
}

/**
 * Creates the asset for a file; `change` converts the file's bytes to the served bytes. The validator is weak,
 * because all content codings share it, as do both Brotli forms (see `madeOf`).
 */
export function assetFile(path: string, change: (bytes: Buffer) => Buffer = (bytes) => bytes): AssetFile {
  return madeOf([path], ([bytes = Buffer.alloc(0)]) => change(bytes), weakTag, encodeSmallest);
}

/**
 * Creates an asset from several files, which is built again only if one of the files changes. The asset has strong
 * validators, one for each content coding.
 */
export function assetMadeOf(paths: readonly string[], make: (files: readonly Buffer[]) => Buffer): AssetFile {
  return madeOf(paths, make, strongTag);
}

type Make = (files: readonly Buffer[]) => Buffer;

/**
 * Creates an asset whose validators `tagOf` returns. `improve` returns a smaller Brotli form of the bytes, which
 * replaces the first form as soon as it is complete.
 */
function madeOf(
  paths: readonly string[],
  make: Make,
  tagOf: (plain: Buffer, coding: Coding) => string,
  improve?: (plain: Buffer) => Promise<Buffer>,
): AssetFile {
  let stamp = '';
  let plain: Buffer | undefined;
  const made = new Map<Coding, AssetBytes>();

  function current(): boolean {
    let now = '';
    for (const path of paths) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (!stats?.isFile()) return false;
      now += `${stats.ino} ${stats.size} ${stats.mtimeMs} `;
    }
    if (now !== stamp) {
      made.clear();
      plain = undefined;
      stamp = now;
    }
    return true;
  }

  async function replaceByImproved(found: AssetBytes, from: Buffer): Promise<void> {
    // If the compression fails, the first form stays.
    const bytes = await improve?.(from).catch(() => undefined);
    if (bytes !== undefined && plain === from) made.set(found.coding, { ...found, bytes });
  }

  return {
    bytes(coding) {
      try {
        if (!current()) return null;
        const known = made.get(coding);
        if (known) return known;
        plain ??= make(paths.map((path) => readFileSync(path)));
        const found = { bytes: encode(plain, coding), coding, etag: tagOf(plain, coding) };
        made.set(coding, found);
        if (coding === 'br') void replaceByImproved(found, plain);
        return found;
      } catch {
        // Treat an unreadable file as missing; the caller reports this to the client.
        return null;
      }
    },
  };
}

function weakTag(plain: Buffer): string {
  return `W/"${digest(plain)}"`;
}

function strongTag(plain: Buffer, coding: Coding): string {
  return `"${digest(plain)}${coding === 'identity' ? '' : `-${coding}`}"`;
}

function digest(plain: Buffer): string {
  return createHash('sha256').update(plain).digest('base64url').slice(0, 27);
}
