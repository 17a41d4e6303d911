import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:net';

/** File descriptors of this process. */
interface Descriptors {
  /** Maximum number of open descriptors. */
  readonly limit: number;
  /** Number of open descriptors. */
  readonly open: number;
}

/** Descriptors reserved for files: a sixteenth of the limit, but at least `min` and at most `max`. */
const reserve = { min: 48, max: 1024, share: 16 };
/** Minimum number of accepted connections, even if the descriptor limit is very low. */
const minConnections = 8;

/** Returns the limit and the number of open descriptors of this process; null if the platform does not report them. */
export function readDescriptors(): Descriptors | null {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    const open = readdirSync('/proc/self/fd').length;
    return Number.isSafeInteger(limit) ? { limit, open } : null;
  } catch {
    return null;
  }
}

/**
 * Returns the maximum number of connections that leaves enough descriptors for files, but at least `minConnections`.
 */
export function maxConnections({ limit, open }: Descriptors): number {
  const kept = Math.min(reserve.max, Math.max(reserve.min, Math.ceil(limit / reserve.share)));
  return Math.max(minConnections, limit - open - kept);
}

/**
 * Limits the connections of a server to the result of `maxConnections`, so that the process can still open files. The
 * server closes connections above the limit immediately. Does nothing if the platform does not report descriptors.
 */
export function limitConnections(server: Server, descriptors: Descriptors | null = readDescriptors()): void {
  if (descriptors !== null) server.maxConnections = maxConnections(descriptors);
}

/**
 * Returns the bounds with `total` limited to the result of `maxConnections`. Returns them unchanged if the platform
 * does not report descriptors.
 */
export function belowDescriptors<Bounds extends { readonly total: number }>(
  bounds: Bounds,
  descriptors: Descriptors | null = readDescriptors(),
): Bounds {
  return descriptors === null ? bounds : { ...bounds, total: Math.min(bounds.total, maxConnections(descriptors)) };
}
