import { inputLimits } from '../../input/limits.ts';

/** A label of 10 MB has to be read to be refused: it must not stop its source. */
export const maxFrameBytes = inputLimits.labelFrame.bytes;

/** Address of a labeler's `subscribeLabels`; without a cursor, of what is live. */
export function streamUrl(endpoint: string, cursor: number | null): string {
  const url = new URL('/xrpc/com.atproto.label.subscribeLabels', endpoint);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  if (cursor !== null) url.searchParams.set('cursor', String(cursor));
  return url.href;
}
