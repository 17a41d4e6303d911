import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/**
 * Maximum size in bytes up to which the highest compression level is used. For larger bodies, it would block the event
 * loop for too long.
 */
const smallBytes = 32 * 1024;

/** Encodes bytes in a content coding. Small bodies get the highest Brotli level, so callers should cache the result. */
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
