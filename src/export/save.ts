import { stat } from 'node:fs/promises';
import { ExportFailure } from './failure.ts';
import { manifestBeside, type PartSummary } from './format.ts';
import type { Progress } from './progress.ts';
import { type ExportOrder, runExport } from './run.ts';
import type { ServiceOptions } from './service.ts';
import { openTarget, type Target } from './target.ts';

/** Returns the path of the manifest file that accompanies a CSV file. */
export function manifestPath(path: string): string {
  return `${path}.manifest.json`;
}

/**
 * Exports into a file that gets its final name only after it is complete and verified. The manifest of a CSV file is
 * renamed first, so that the rows never exist without a manifest. Rejects with ExportFailure, or with the reason of the
 * service's abort signal; no file remains after a failure.
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
    await manifest?.publish();
    await rows.publish();
    return parts;
  } finally {
    for (const target of open) await target.discard();
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    // Ignore the error: the file normally does not exist, and if it is inaccessible, opening it later reports why.
    () => false,
  );
}
