import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/** Above this, in bytes, the best compression would hold the event loop for longer than it saves. */
const smallBytes = 32 * 1024;

/** The bytes in a content coding. Made once for each representation, so small ones get the best that brotli has. */
export function encode(bytes: Buffer, coding: Coding): Buffer {
  switch (coding) {
    case 'identity':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, { level: bytes.length > smallBytes ? 6 : 9 });
    case 'br':
      return brotliCompressSync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: bytes.length > smallBytes ? 4 : 9,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      });
  }
}
