import { readFile, stat, unlink } from 'node:fs/promises';
import { systemCode } from '../ops/errors.ts';
import { ExportFailure } from './failure.ts';
import { manifestBeside, type PartSummary } from './format.ts';
import type { Progress } from './progress.ts';
import { type ExportOrder, runExport } from './run.ts';
import type { ServiceOptions } from './service.ts';
import { openTarget, type Target, unwritable } from './target.ts';

/** Returns the path of the manifest file that accompanies a CSV file. */
export function manifestPath(path: string): string {
  return `${path}.manifest.json`;
}

/**
 * Exports into a file that gets its final name only after it is complete and verified. The manifest of a CSV file is
 * renamed first, so that the rows never exist without a manifest. Rejects with ExportFailure, or with the reason of
 * the service's abort signal. After a failure no new file remains, unless the files were renamed but not made
 * durable, or another system error prevents the removal.
 */
export async function saveExport(
  order: ExportOrder,
  path: string,
  service: ServiceOptions,
  progress: Progress,
): Promise<readonly PartSummary[]> {
  const open: Target[] = [];
  const begin = async (file: string): Promise<Target> => {
    if (await isFolder(file)) throw new ExportFailure('unwritable', `cannot write ${file}: it is a directory`);
    const target = await openTarget(file);
    open.push(target);
    return target;
  };
  try {
    const rows = await begin(path);
    const manifest = order.format === 'csv' ? await begin(manifestPath(path)) : null;
    const parts = await runExport(order, service, rows, progress);
    await manifest?.write(manifestBeside(parts, rows.sha256()));
    await rows.seal();
    await manifest?.seal();
    service.signal.throwIfAborted();
    if (manifest) await publishBoth(rows, manifest, manifestPath(path));
    else await rows.publish();
    return parts;
  } finally {
    for (const target of open) await target.discard();
  }
}

/**
 * Publishes the manifest, and then the rows. If the file of rows cannot be renamed to its final name, restores the
 * earlier manifest, or removes the new manifest if there was no earlier one.
 */
async function publishBoth(rows: Target, manifest: Target, path: string): Promise<void> {
  const earlier = await contentOf(path);
  try {
    await manifest.publish();
    await rows.publish();
  } catch (error) {
    if (manifest.isPublished && !rows.isPublished) await restore(path, earlier);
    throw error;
  }
}

/** Returns the content of a file, or null if it does not exist. */
async function contentOf(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw unwritable(path, error);
  }
}

/** Restores the previous content of a file, or removes the file if `earlier` is null. */
async function restore(path: string, earlier: Buffer | null): Promise<void> {
  // Ignore errors: the error that made the restoration necessary is reported.
  if (earlier === null) {
    await unlink(path).catch(() => undefined);
    return;
  }
  const target = await openTarget(path).catch(() => null);
  try {
    await target?.write(earlier);
    await target?.seal();
    await target?.publish();
  } catch {
    await target?.discard();
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    // Ignore the error: the file normally does not exist, and if it is inaccessible, opening it later reports why.
    () => false,
  );
}
