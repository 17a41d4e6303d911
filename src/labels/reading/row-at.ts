import { withPeer } from '../../network/http/http.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { fingerprint } from '../label/label-fields.ts';
import { decimal, type LabelPage, type PageOptions, queryLabels } from '../poll/query-labels.ts';
import type { SourceFault } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';

/** Source and ports of a request for a page, and the signal that aborts it. */
export interface PageRequester {
  readonly source: Source;
  readonly ports: Pick<ReaderPorts, 'query' | 'time' | 'report' | 'pace'>;
  readonly signal: AbortSignal;
}

/**
 * Requests a page once, and charges the source for decoding the response, even if the response is not a page: a
 * compressed response of a few bytes may cost as much as a large page. The number of concurrent requests for large
 * pages is limited, because each page may occupy a lot of memory.
 */
export async function requestPage(
  { source, ports, signal }: PageRequester,
  cursor: number,
  options: Pick<PageOptions, 'limit' | 'large' | 'admit' | 'charge'>,
): Promise<LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  const { memory } = ports.query;
  const { timings } = ports.time;
  const http = withPeer(ports.query.http, source.peer);
  const charge: PageOptions['charge'] = (cost) => {
    ports.pace.charge(source.did, cost);
    options.charge?.(cost);
  };
  const pageOptions = { ...options, charge, timeoutMs: timings.requestMs, signal };
  if (!options.large) return queryLabels(http, source.endpoint, cursor, pageOptions);
  const turn = await memory.largePages.acquire(
    { host: new URL(source.endpoint).host, ...source.peer },
    timings.requestMs,
    signal,
  );
  if (typeof turn === 'string') return { kind: 'fault', fault: null, why: turn, retryAfterMs: null };
  try {
    return await queryLabels(http, source.endpoint, cursor, pageOptions);
  } finally {
    turn();
  }
}

/** Result of looking up a row by its number. */
type RowAt =
  | { readonly kind: 'row'; readonly fingerprint: string }
  /** No row has this number, or the labeler does not return it. */
  | { readonly kind: 'none' }
  /** The labeler does not respond now, or a limit of this instrument prevents the request. */
  | ({ readonly kind: 'fault' } & SourceFault);

/**
 * Looks up the row with exactly this number. Requests a larger page if the row does not fit, and returns a permanent
 * failure as `none`.
 */
export async function rowAt(reader: PageRequester, number: number): Promise<RowAt> {
  const memory = reader.ports.query.memory.decoded.open();
  // The request must not wait for memory: the caller may hold memory for which other sources wait.
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
  // Treat a permanent failure as `none`, so that a labeler that never responds to this request is still read.
  if (page.kind === 'fault') return page.fault === null || page.fault === 'failed' ? page : { kind: 'none' };
  if (decimal(page.cursor) !== number || page.labels.length !== 1) return { kind: 'none' };
  return { kind: 'row', fingerprint: fingerprint(page.labels[0]) };
}
