import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/**
 * Maximum size in bytes for the highest compression level. Larger bodies would block the event loop too long at that
 * level.
 */
const smallBytes = 32 * 1024;

/** Encodes bytes in a content coding, and small bodies with the highest brotli level. Callers cache the result. */
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
