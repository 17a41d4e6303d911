import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import type { GetJsonOptions, HttpClient } from '../../network/http/http.ts';
import { httpFault, type SourceFault } from '../state/reading-events.ts';

/** Number of requested labels per page: the lexicon's maximum. */
export const pageLimit = 250;

/** A page of `com.atproto.label.queryLabels`. */
export interface LabelPage {
  readonly kind: 'page';
  readonly labels: readonly unknown[];
  /** Cursor as received, or null if the page has no cursor. */
  readonly cursor: string | null;
}

/** Options for requesting a page. */
export interface PageOptions extends Pick<GetJsonOptions, 'timeoutMs' | 'signal' | 'admit' | 'charge'> {
  readonly limit: number;
  /** True to accept a page that is large enough for one huge label. */
  readonly large?: boolean;
}

/** Requests the labels after a cursor from a labeler. Never rejects. */
export async function queryLabels(
  http: HttpClient,
  endpoint: string,
  cursor: number,
  { limit, large = false, ...options }: PageOptions,
): Promise<LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  const url = new URL('/xrpc/com.atproto.label.queryLabels', endpoint);
  url.searchParams.set('uriPatterns', '*');
  url.searchParams.set('limit', String(limit));
  if (cursor > 0) url.searchParams.set('cursor', String(cursor));
  const shape = large ? inputLimits.singleLabelPage : inputLimits.labelPage;
  const answer = await http.getJson(url, { ...options, maxBytes: shape.bytes, shape });
  if (answer.kind !== 'json') return { kind: 'fault', ...httpFault(answer) };
  const { value } = answer;
  const page = isObject(value) ? value : {};
  // Serializers of some languages write an empty list as null.
  const labels = page.labels === null ? [] : page.labels;
  if (!Array.isArray(labels) || labels.length > 4 * pageLimit) {
    return { kind: 'fault', fault: 'rejecting', why: 'no page', retryAfterMs: null };
  }
  return { kind: 'page', labels, cursor: cursorText(page.cursor) };
}

/** Returns a cursor as text; some servers send the number. Returns null for any other value. */
export function cursorText(cursor: unknown): string | null {
  if (typeof cursor === 'number' && Number.isSafeInteger(cursor)) return String(cursor);
  return typeof cursor === 'string' ? cursor : null;
}

/** Parses a cursor as a positive integer; returns null for any other text. */
export function decimal(cursor: string | null): number | null {
  if (cursor === null || !/^[1-9]\d{0,15}$/.test(cursor)) return null;
  const number = Number(cursor);
  return Number.isSafeInteger(number) ? number : null;
}
