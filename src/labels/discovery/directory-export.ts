import { inputLimits } from '../../input/limits.ts';
import type { HttpClient, TextAnswer } from '../../network/http/http.ts';
import { type DirectoryOperation, parseDirectoryExport } from '../../network/identity/directory-operation.ts';

/** Maximum number of operations that the directory serves in one page. */
export const maxCount = 1_000;
/** Minimum number of operations per page; a page of this many operations of maximum size is within the byte limit. */
const minCount = 50;
/**
 * Maximum number of pages per run. The reader then tries the stream again, because its position may be within the
 * stream's window by then.
 */
const pagesPerRun = 60;
/**
 * Interval between requests for pages, in milliseconds: at most 1,000 operations a second, the same rate as for the
 * stream.
 */
const intervalMs = 1_000;
const timeoutMs = 30_000;
/** HTTP statuses of a directory that does not serve the export. */
const absentStatuses: ReadonlySet<number> = new Set([404, 405, 410, 501]);

/** Dependencies of `readDirectoryExport`. */
export interface DirectoryExportOptions {
  readonly directory: string;
  readonly http: Pick<HttpClient, 'getText'>;
  readonly allowHttp: boolean;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called for each operation in order. The export can be resumed from the `seq` of the operation. */
  readonly onOperation: (operation: DirectoryOperation) => void;
}

/**
 * Result of a run. `read`: the run read some pages, or all pages up to the newest operation. `failed`: a later run may
 * succeed; `retryAfterMs` is the unbounded wait that the directory requested. `absent`: the directory does not serve
 * these pages.
 */
export type ExportRun =
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'absent' };

/**
 * Reads the paged export after a position, at a bounded rate, up to the newest operation or the maximum number of
 * pages. Never rejects. Source: did:plc v0.3.0, `GET /export?after=SEQ&count=`.
 */
export async function readDirectoryExport(
  options: DirectoryExportOptions,
  position: number,
  signal: AbortSignal,
): Promise<ExportRun> {
  const { http, allowHttp, wait, onOperation } = options;
  let after = position;
  let count = maxCount;
  for (let page = 0; page < pagesPerRun && !signal.aborted; page += 1) {
    if (page > 0) await wait(intervalMs, signal);
    const limits = { maxBytes: inputLimits.directoryExport.bytes, timeoutMs, signal };
    const answer = await http.getText(exportUrl(options.directory, after, count), limits);
    if (answer.kind === 'too_large' && count > minCount) {
      count = Math.max(minCount, Math.floor(count / 4));
      continue;
    }
    if (answer.kind !== 'text') return failureOf(answer);
    const { lines, operations } = parseDirectoryExport(answer.text, { maxLines: count, allowHttp });
    const rising = operations.filter(({ seq }) => seq > after);
    for (const operation of rising) onOperation(operation);
    if (lines < count) return { kind: 'read' };
    const last = rising.at(-1);
    // End the run at a page that does not advance the position, because the next request would return the same page.
    if (last === undefined) return { kind: 'read' };
    after = last.seq;
  }
  return { kind: 'read' };
}

function exportUrl(directory: string, after: number, count: number): string {
  return `${directory.replace(/\/+$/, '')}/export?after=${after}&count=${count}`;
}

/**
 * Converts a response without a page to the result of the run. Counts any status outside `absentStatuses` as a failure,
 * because a cache or a firewall in front of the directory may refuse requests for some time.
 */
function failureOf(answer: Exclude<TextAnswer, { kind: 'text' }>): ExportRun {
  if (answer.kind !== 'status') return { kind: 'failed', why: answer.kind, retryAfterMs: null };
  if (absentStatuses.has(answer.status)) return { kind: 'absent' };
  return { kind: 'failed', why: `status ${answer.status}`, retryAfterMs: answer.retryAfterMs };
}
