import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Coding } from './accept-encoding.ts';
import { encode } from './compress.ts';

/** A static file of the built program. It is cached, and read again after it has changed on disk. */
export interface AssetFile {
  /** Returns the file's bytes in a content coding; null if the file is missing or unreadable. */
  bytes(coding: Coding): AssetBytes | null;
}

/** Bytes of an asset in one content coding. */
export interface AssetBytes {
  readonly bytes: Buffer;
  readonly coding: Coding;
  /** Validator of the content. It is the same in every process. */
  readonly etag: string;
}

/**
 * Creates the asset for a file; `change` converts the file's bytes to the served bytes. Its validator is weak, because
 * it is the same for every content coding.
 */
export function assetFile(path: string, change: (bytes: Buffer) => Buffer = (bytes) => bytes): AssetFile {
  return madeOf([path], ([bytes = Buffer.alloc(0)]) => change(bytes), weakTag);
}

/**
 * Creates an asset from several files; it is built again only if one of them changes. Its validator is strong, because
 * each content coding has its own.
 */
export function assetMadeOf(paths: readonly string[], make: (files: readonly Buffer[]) => Buffer): AssetFile {
  return madeOf(paths, make, strongTag);
}

type Make = (files: readonly Buffer[]) => Buffer;

function madeOf(paths: readonly string[], make: Make, tagOf: (plain: Buffer, coding: Coding) => string): AssetFile {
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

  return {
    bytes(coding) {
      try {
        if (!current()) return null;
        const known = made.get(coding);
        if (known) return known;
        plain ??= make(paths.map((path) => readFileSync(path)));
        const found = { bytes: encode(plain, coding), coding, etag: tagOf(plain, coding) };
        made.set(coding, found);
        return found;
      } catch {
        // An unreadable file is treated as a missing one; the caller reports that to the client.
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
