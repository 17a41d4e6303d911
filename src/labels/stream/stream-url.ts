import { inputLimits } from '../../input/limits.ts';

/**
 * Maximum size of a frame, in bytes. A label of 10 MB must be read and refused, so that reading continues for
 * its source.
 */
export const maxFrameBytes = inputLimits.labelFrame.bytes;

/** Returns the URL of a labeler's `subscribeLabels`. The stream is live if `cursor` is null. */

export function streamUrl(endpoint: string, cursor: number | null): string {
  const url = new URL('/xrpc/com.atproto.label.subscribeLabels', endpoint);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  if (cursor !== null) url.searchParams.set('cursor', String(cursor));
  return url.href;
}
