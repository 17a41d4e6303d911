import type { Stats } from 'node:fs';

/** Returns a text that changes whenever a file changes, also if a new file with the same size and time replaces it. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
