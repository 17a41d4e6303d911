import type { ExportManifest } from '../contract/account.ts';
import { isOfService, parseCreated, parsePage, type Refusal, type Total } from './answers.ts';
import { ExportFailure } from './failure.ts';
import { type ExportFormat, layouts, type PartSummary } from './format.ts';
import { type AskedInterval, intervalQuery, partsOf } from './interval.ts';
import { beginPart, type Part } from './part.ts';
import type { Progress } from './progress.ts';
import { askExports, noService, type ServiceOptions } from './service.ts';
import type { Target } from './target.ts';

/** The export to download. */
export interface ExportOrder {
  /** DID of the account. */
  readonly account: string;
  readonly interval: AskedInterval;
  readonly filters: ExportManifest['filters'];
  readonly format: ExportFormat;
}

/** Maximum restarts of an export for one part. */
const maxRestarts = 3;
/** Maximum parts of one file. */
const maxParts = 10_000;

/**
 * Writes the requested export into the target, part by part, each verified before the next is requested. Rejects with
 * ExportFailure; the target's content is then unusable.
 */
export async function runExport(
  order: ExportOrder,
  service: ServiceOptions,
  target: Target,
  progress: Progress,
): Promise<readonly PartSummary[]> {
  const layout = layouts[order.format];
  const queue: AskedInterval[] = [order.interval];
  const parts: PartSummary[] = [];
  let rows = 0;

  for (let next = queue.shift(); next; next = queue.shift()) {
    const done = await readPart(next);
    if (Array.isArray(done)) {
      queue.unshift(...done);
      if (queue.length + parts.length > maxParts)
        throw new ExportFailure('damaged', 'the service lists an unlimited number of parts');
      progress.narrowed(done.length);
    } else {
      parts.push(done);
      rows += done.count;
    }
  }
  await target.write(layout.finish(rows, parts.length > 1));
  return parts;

  /** Reads one part into the file; if it is too large, returns its parts. */
  async function readPart(interval: AskedInterval): Promise<PartSummary | AskedInterval[]> {
    const mark = target.mark();
    for (let restarts = 0; restarts <= maxRestarts; restarts++) {
      if (restarts > 0) {
        progress.restarted();
        await target.rewind(mark);
      }
      const reply = await askExports({ did: order.account, ...intervalQuery(interval), ...order.filters }, service);
      if (reply.kind === 'refusal') {
        const { code, intervals } = reply.refusal;
        // An account with too many rows to count is refused without parts.
        if (code !== 'export_too_large' || intervals.length === 0) throw refused(reply.refusal);
        return partsOf(interval, intervals);
      }
      if (!isOfService(reply.text)) throw noService('does not respond with an export');
      const created = parseCreated(reply.text);
      const part = beginPart(created, order, interval);
      await target.write(
        layout.begin(part.manifest, { index: parts.length, several: parts.length + queue.length > 0 }),
      );
      const total = await readPages(part, created.cursor);
      if (total) return { manifest: part.manifest, ...total };
    }
    throw new ExportFailure('expired', `the export expired ${maxRestarts + 1} times before its last page`);
  }

  /** Reads the pages of a part; returns null if the export expired meanwhile. */
  async function readPages(part: Part, first: string): Promise<Total | null> {
    let cursor = first;
    progress.rows(rows, part.manifest.count_bound + rows, parts.length + 1, parts.length + 1 + queue.length);
    for (;;) {
      const reply = await askExports({ cursor }, service);
      if (reply.kind === 'refusal') {
        // A service whose secret was changed responds with `invalid_cursor`.
        if (['snapshot_expired', 'invalid_cursor'].includes(reply.refusal.code)) return null;
        throw refused(reply.refusal);
      }
      const page = parsePage(reply.text);
      const before = part.count;
      const accepted = part.accept(page);
      await target.write(accepted.map(({ row, text }, nth) => layout.row(row, text, before + nth)).join(''));
      progress.rows(
        rows + part.count,
        rows + part.manifest.count_bound,
        parts.length + 1,
        parts.length + 1 + queue.length,
      );
      if ('total' in page.next) {
        part.verify(page.next.total);
        await target.write(layout.end(page.next.total));
        return page.next.total;
      }
      if (page.next.cursor === cursor) throw new ExportFailure('damaged', 'the service sent the same page again');
      cursor = page.next.cursor;
    }
  }
}

function refused({ status, code, message }: Refusal): ExportFailure {
  return new ExportFailure('refused', `the service refuses (${status} ${code}): ${message}`);
}
