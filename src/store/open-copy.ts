import type { CopySource, CopyTarget } from './copy/parts.ts';
import { parseStoreUrl } from './open.ts';
import { openSqliteSource } from './sqlite/copy/source.ts';
import { openSqliteTarget } from './sqlite/copy/target.ts';

/** Opens the store at a URL as the source of a copy; see `CopySource`. */
export async function openCopySource(url: string): Promise<CopySource> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return openSqliteSource(place.folder);
  const { openPostgresSource } = await import('./postgres/copy/source.ts');
  return openPostgresSource(place);
}

/**
 * Opens the store at a URL as the target of a copy, or resumes the copy in it; see `CopyTarget`. `generation` is the
 * generation of the source; `at` is the current time in microseconds.
 */
export async function openCopyTarget(url: string, generation: string, at: number): Promise<CopyTarget> {
  const place = parseStoreUrl(url);
  if (place.kind === 'sqlite') return openSqliteTarget(place.folder, generation);
  const { openPostgresTarget } = await import('./postgres/copy/target.ts');
  return openPostgresTarget(place, generation, at);
}
