import { readFile, stat, unlink } from 'node:fs/promises';
import type { ExportManifest } from '../contract/account.ts';
import { systemCode } from '../ops/errors.ts';
import { ExportFailure } from './failure.ts';
import { type ExportFormat, layouts, manifestBeside, type PartSummary } from './format.ts';
import { type AskedInterval, beginPart, intervalQuery, type Part, partsOf } from './part.ts';
import type { Progress } from './progress.ts';
import { createExport, type Refusal, readPage, type ServiceOptions, type Total } from './service.ts';
import { openTarget, type Target, unwritable } from './target.ts';

/** Specification of the export to download. */
export interface ExportOrder {
  /** DID of the account. */
  readonly account: string;
  readonly interval: AskedInterval;
  readonly filters: ExportManifest['filters'];
  readonly format: ExportFormat;
}

/** Returns the path of the manifest file that accompanies a CSV file. */
function manifestPath(path: string): string {
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
    const parts = await new ExportRun(order, service, rows, progress).run();
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

/** Maximum number of times that an expired export of one part is restarted. */
const maxRestarts = 3;
/** Maximum number of parts in one file. */
const maxParts = 10_000;
/**
 * Maximum number of pages without rows in one part. Such a page skips at least one row that the filters exclude, so
 * an export has at most `count_bound` such pages.
 */
const maxEmptyPages = 100_000;

/**
 * Writes the requested export to the target, part by part. Each part is verified before the next one is requested.
 * `run` rejects with ExportFailure or with the reason of the service's abort signal; the content of the target is then
 * incomplete.
 */
class ExportRun {
  readonly #order: ExportOrder;
  readonly #service: ServiceOptions;
  readonly #target: Target;
  readonly #progress: Progress;
  readonly #layout: (typeof layouts)[ExportFormat];
  readonly #queue: AskedInterval[];
  readonly #parts: PartSummary[] = [];
  #rows = 0;

  constructor(order: ExportOrder, service: ServiceOptions, target: Target, progress: Progress) {
    this.#order = order;
    this.#service = service;
    this.#target = target;
    this.#progress = progress;
    this.#layout = layouts[order.format];
    this.#queue = [order.interval];
  }

  async run(): Promise<readonly PartSummary[]> {
    const queue = this.#queue;
    for (let next = queue.shift(); next; next = queue.shift()) {
      const done = await this.#readPart(next);
      if (Array.isArray(done)) {
        queue.unshift(...done);
        if (queue.length + this.#parts.length > maxParts)
          throw new ExportFailure('damaged', `the service lists more than ${maxParts} parts`);
        this.#progress.narrowed(done.length);
      } else {
        this.#parts.push(done);
        this.#rows += done.count;
      }
    }
    await this.#target.write(this.#layout.finish(this.#rows, this.#parts.length > 1));
    return this.#parts;
  }

  /**
   * Downloads one part into the file, and restarts the download if the export expires. If the part is too large,
   * returns smaller parts without downloading any rows.
   */
  async #readPart(interval: AskedInterval): Promise<PartSummary | AskedInterval[]> {
    const { account, filters } = this.#order;
    const mark = this.#target.mark();
    for (let restarts = 0; restarts <= maxRestarts; restarts++) {
      if (restarts > 0) {
        this.#progress.restarted();
        await this.#target.rewind(mark);
      }
      const query = { did: account, ...intervalQuery(interval), ...filters };
      const created = await createExport(query, this.#service);
      if (created.kind === 'refusal') {
        const { code, intervals } = created;
        // The service also refuses an account with too many rows to count, but then lists no parts.
        if (code !== 'export_too_large' || intervals.length === 0) throw refused(created);
        return partsOf(interval, intervals);
      }
      const part = beginPart(created.manifest, this.#order, interval);
      const [index, several] = [this.#parts.length, this.#parts.length + this.#queue.length > 0];
      await this.#target.write(this.#layout.begin(part.manifest, { index, several }));
      const total = await this.#readPages(part, created.cursor);
      if (total) return { manifest: part.manifest, ...total };
    }
    throw new ExportFailure('expired', `the export expired ${maxRestarts + 1} times before its last page was received`);
  }

  /** Downloads the pages of a part; returns null if the export expires before the last page. */
  async #readPages(part: Part, first: string): Promise<Total | null> {
    let cursor = first;
    let emptyPages = 0;
    const maxEmpty = Math.min(maxEmptyPages, part.manifest.count_bound);
    this.#report(part);
    for (;;) {
      const page = await readPage(cursor, this.#service);
      if (page.kind === 'refusal') {
        // A service whose secret was changed responds with `invalid_cursor`; a new export can then succeed.
        if (['snapshot_expired', 'invalid_cursor'].includes(page.code)) return null;
        throw refused(page);
      }
      const before = part.count;
      const accepted = part.accept(page);
      await this.#target.write(
        accepted.map(({ row, text }, nth) => this.#layout.row(row, text, before + nth)).join(''),
      );
      this.#report(part);
      if ('total' in page.next) {
        part.verify(page.next.total);
        await this.#target.write(this.#layout.end(page.next.total));
        return page.next.total;
      }
      if (accepted.length === 0) emptyPages += 1;
      if (emptyPages > maxEmpty) {
        throw new ExportFailure('damaged', `the service sent more than ${maxEmpty} pages without rows`);
      }
      if (page.next.cursor === cursor) throw new ExportFailure('damaged', 'the service sent the same page again');
      cursor = page.next.cursor;
    }
  }

  #report({ count, manifest }: Part): void {
    const index = this.#parts.length + 1;
    this.#progress.rows(this.#rows + count, this.#rows + manifest.count_bound, index, index + this.#queue.length);
  }
}

function refused({ status, code, message }: Refusal): ExportFailure {
  return new ExportFailure('refused', `the service refused the request (${status} ${code}): ${message}`);
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
