import { withPeer } from '../../network/http/http.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { fingerprint } from '../label/fingerprint.ts';
import { decimal, type LabelPage, type PageOptions, queryLabels } from '../poll/query-labels.ts';
import type { SourceFault } from '../state/faults.ts';
import type { Source } from '../state/source.ts';

/** Who asks a source, and until when. */
export interface PageRequester {
  readonly source: Source;
  readonly ports: Pick<ReaderPorts, 'query' | 'time' | 'report'>;
  readonly signal: AbortSignal;
}

/** Asks for a page once. Large ones are asked for by few sources at a time, because each occupies as much memory. */
export async function requestPage(
  { source, ports, signal }: PageRequester,
  cursor: number,
  options: Pick<PageOptions, 'limit' | 'large' | 'admit'>,
): Promise<LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  const { memory } = ports.query;
  const { timings } = ports.time;
  const http = withPeer(ports.query.http, source.peer);
  const wanted = { ...options, timeoutMs: timings.requestMs, signal };
  if (!options.large) return queryLabels(http, source.endpoint, cursor, wanted);
  const turn = await memory.largePages.acquire(
    { host: new URL(source.endpoint).host, ...source.peer },
    timings.requestMs,
    signal,
  );
  if (typeof turn === 'string') return { kind: 'fault', fault: null, why: turn, retryAfterMs: null };
  try {
    return await queryLabels(http, source.endpoint, cursor, wanted);
  } finally {
    turn();
  }
}

/** What stands under a number. */
export type RowAt =
  | { readonly kind: 'row'; readonly fingerprint: string }
  /** No row, or the labeler does not tell. */
  | { readonly kind: 'none' }
  /** It cannot be asked now. */
  | ({ readonly kind: 'fault' } & SourceFault);

/** The row that stands under exactly that number. */
export async function rowAt(reader: PageRequester, number: number): Promise<RowAt> {
  const memory = reader.ports.query.memory.decoded.open();
  // It must not wait for memory: the caller may hold some, and others wait for that.
  const admit: PageOptions['admit'] = async (decodedBytes) => (memory.tryTake(decodedBytes) ? 'taken' : 'busy');
  try {
    const page = await requestPage(reader, number - 1, { limit: 1, admit });
    if (page.kind === 'fault' && page.why === 'busy') reader.ports.report.telemetry.hostFull('poll');
    const isLarge = page.kind === 'fault' && page.why === 'too_large';
    return rowOf(isLarge ? await requestPage(reader, number - 1, { limit: 1, large: true, admit }) : page, number);
  } finally {
    memory.release();
  }
}

function rowOf(page: LabelPage | ({ readonly kind: 'fault' } & SourceFault), number: number): RowAt {
  // Who gives pages and never answers this would never be read on: that is one who does not tell.
  if (page.kind === 'fault') return page.fault === null || page.fault === 'failed' ? page : { kind: 'none' };
  if (decimal(page.cursor) !== number || page.labels.length !== 1) return { kind: 'none' };
  return { kind: 'row', fingerprint: fingerprint(page.labels[0]) };
}
