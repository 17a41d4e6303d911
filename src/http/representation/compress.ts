import { brotliCompress, brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Coding } from './accept-encoding.ts';

/**
 * Brotli level of bodies that are encoded while a client waits: 1 ms for 35 kB. Level 9 takes 50 to 150 ms for any body,
 * because it initialises a large table first, and saves less than 1 %.
 */
const promptLevel = 6;

/** Maximum size in bytes of a body that gzip compresses at its highest level. */
const smallBytes = 32 * 1024;

/** Encodes bytes in a content coding. Callers cache the result. */
export function encode(bytes: Buffer, coding: Coding): Buffer {
  switch (coding) {
    case 'identity':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, { level: bytes.length > smallBytes ? 6 : 9 });
    case 'br':
      return brotliCompressSync(bytes, brotliOptions(bytes, promptLevel));
  }
}

/**
 * Encodes bytes with Brotli at its highest level, in a thread. The result is about a tenth smaller than at
 * `promptLevel`, for 1 ms of processor time per kilobyte.
 */
export const encodeSmallest = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = brotliOptions(bytes, constants.BROTLI_MAX_QUALITY);
    brotliCompress(bytes, options, (error, smallest) => (error === null ? resolve(smallest) : reject(error)));
  });

function brotliOptions(bytes: Buffer, level: number) {
  return {
    params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  };
}

/**
 * Minimum size in bytes of a body that is encoded for a single request. A smaller body fits into one network packet
 * even if it is not encoded.
 */
const fewBytes = 1_400;

/**
 * Encodes a body that is sent only once, and returns it with the coding used. The levels are low, so that a page of
 * 80 kB takes 0.3 ms of processor time. A small body is not encoded.
 */
export function encodeOnce(bytes: Buffer, coding: Coding): { readonly bytes: Buffer; readonly coding: Coding } {
  if (bytes.length < fewBytes || coding === 'identity') return { bytes, coding: 'identity' };
  if (coding === 'gzip') return { bytes: gzipSync(bytes, { level: 2 }), coding };
  return { bytes: brotliCompressSync(bytes, brotliOptions(bytes, 3)), coding };
}
