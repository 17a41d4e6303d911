import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeFile } from '../../src/weather/window/window-store.ts';

/** Content of a file or log, with its name. */
interface Place {
  readonly name: string;
  readonly text: string;
}

/** The directory and the log lines that a run left behind. */
interface Left {
  readonly folder: string;
  readonly lines: readonly string[];
}

/**
 * Returns everything that a station stored or logged: store, write-ahead log, artifact and log lines. Throws if the
 * directory has no store.
 */
export function everythingKept({ folder, lines }: Left): Place[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  if (!files.some((path) => path.endsWith(storeFile))) throw new Error('there is no store to scan');
  return [
    ...files.map((path) => ({ name: path, text: readFileSync(path, 'latin1') })),
    { name: 'log', text: lines.join('\n') },
  ];
}

/** Patterns of identities: DIDs, AT-URIs, CIDs, and handles with common endings. */
const identityShapes = [/did:(?:plc|web|key):/, /at:\/\//, /bafy/, /\.bsky\.(?:social|app)\b/];

/** Returns the names of the places that contain an identity or one of `values`. */
export function leaks(places: readonly Place[], values: readonly string[] = []): string[] {
  return places
    .filter(
      ({ text }) => values.some((value) => text.includes(value)) || identityShapes.some((shape) => shape.test(text)),
    )
    .map(({ name }) => name);
}
