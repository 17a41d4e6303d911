import type { ArchiveFiles } from '../files/archive-files.ts';

/**
 * Programs with which a reader of an archive downloads the tables of a month, loads them with types and keys, and draws
 * them. They are part of every archive, so that a reader who knows only its address has them.
 */
const names = [
  'archive_month.py',
  'clickhouse.sql',
  'duckdb.sql',
  'labels.gnuplot',
  'labels.vl.json',
  'load.R',
  'load.py',
  'postgresql.sql',
  'sqlite.sql',
] as const;
/** Name of a loader, which is the name of its file. */
export type LoaderName = (typeof names)[number];

/** Returns the path of a loader in an archive. */
function pathOf(name: LoaderName): string {
  return `loaders/${name}`;
}

/** Paths of all loaders. The next version of the program may replace them, because no record lists them. */
export const loaderPaths: readonly string[] = names.map(pathOf);

/**
 * Writes the loaders into an archive that has others or none. `read` returns the bytes of a loader. Throws the system's
 * error if a file cannot be read or written.
 */
export function writeLoaders(files: Pick<ArchiveFiles, 'read' | 'replace'>, read: (name: LoaderName) => Buffer): void {
  for (const name of names) {
    const bytes = read(name);
    if (files.read(pathOf(name))?.equals(bytes) !== true) files.replace(pathOf(name), bytes);
  }
}
