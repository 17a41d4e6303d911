import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:net';

/** Descriptors of this process. */
export interface Descriptors {
  /** Maximum number of open descriptors. */
  readonly limit: number;
  /** Number of open descriptors. */
  readonly open: number;
}

/** A sixteenth of the limit is kept for files, within these bounds. */
const reserve = { min: 48, max: 1024, share: 16 };
/** However low the limit is, this many connections are accepted. */
const minConnections = 8;

/**
 * Reads the limit and the use of descriptors; null where the platform does not say. Once, before a server listens.
 */
export function readDescriptors(): Descriptors | null {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    const open = readdirSync('/proc/self/fd').length;
    return Number.isSafeInteger(limit) ? { limit, open } : null;
  } catch {
    return null;
  }
}

/** Maximum number of connections that leaves enough descriptors for the files that responses are read from. */
export function maxConnections({ limit, open }: Descriptors): number {
  const kept = Math.min(reserve.max, Math.max(reserve.min, Math.ceil(limit / reserve.share)));
  return Math.max(minConnections, limit - open - kept);
}

/**
 * Limits the connections of a server below the descriptors of its process: clients that only connect then cost each
 * other connections, and never a reading. Further connections are closed at once.
 */
export function limitConnections(server: Server, descriptors: Descriptors | null = readDescriptors()): void {
  if (descriptors !== null) server.maxConnections = maxConnections(descriptors);
}

/** Lowers a bound of connections to what leaves enough descriptors for files. */
export function belowDescriptors<Bounds extends { readonly total: number }>(
  bounds: Bounds,
  descriptors: Descriptors | null = readDescriptors(),
): Bounds {
  return descriptors === null ? bounds : { ...bounds, total: Math.min(bounds.total, maxConnections(descriptors)) };
}
