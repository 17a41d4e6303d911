import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeFile } from '../../src/weather/window/window-store.ts';

/** The text of a file or log, with its name. */
interface Place {
  readonly name: string;
  readonly text: string;
}

/** The directory and the log lines of a run. */
interface Left {
  readonly folder: string;
  readonly lines: readonly string[];
}

/** Returns all bytes that a station stored or logged: store, write-ahead log, artifact, log lines. */
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

/** Patterns of identities: DIDs, AT-URIs, content addresses, and handles of the common form. */
const identityShapes = [/did:(?:plc|web|key):/, /at:\/\//, /bafy/, /\.bsky\.(?:social|app)\b/];

/** Returns the names of the places that contain an identity or one of the given values. */
export function leaks(places: readonly Place[], values: readonly string[] = []): string[] {
  return places
    .filter(
      ({ text }) => values.some((value) => text.includes(value)) || identityShapes.some((shape) => shape.test(text)),
    )
    .map(({ name }) => name);
}
