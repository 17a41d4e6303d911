import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeFile } from '../../src/weather/window/window-store.ts';

/** A file or a log, as text, with its name. */
interface Place {
  readonly name: string;
  readonly text: string;
}

/** Directory and log lines of a completed run. */
interface Left {
  readonly folder: string;
  readonly lines: readonly string[];
}

/** Returns everything that a station has written: store, write-ahead log, artifact, log lines. */
export function everythingKept({ folder, lines }: Left): Place[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  if (!files.some((path) => path.endsWith(storeFile))) throw new Error('the directory contains no store');
  return [
    ...files.map((path) => ({ name: path, text: readFileSync(path, 'latin1') })),
    { name: 'log', text: lines.join('\n') },
  ];
}

/** Patterns of identities: DIDs, AT-URIs, content addresses, common handles. */
const identityShapes = [/did:(?:plc|web|key):/, /at:\/\//, /bafy/, /\.bsky\.(?:social|app)\b/];

/** Returns the names of the places that contain an identity's pattern or one of the values. */
export function leaks(places: readonly Place[], values: readonly string[] = []): string[] {
  return places
    .filter(
      ({ text }) => values.some((value) => text.includes(value)) || identityShapes.some((shape) => shape.test(text)),
    )
    .map(({ name }) => name);
}
