import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes a file's content durable with fsync. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
