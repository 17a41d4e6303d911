import { constants, zstdDecompressSync } from 'node:zlib';
import { maxDecodedBytes } from '../../input/limits.ts';

/**
 * Maximum size of the window of a frame, as a power of two in bytes: enough for the largest frame. A frame of ten bytes
 * may state a window of 128 MiB, whose allocation takes ten times longer than the expansion of an ordinary frame.
 */
const maxWindowLog = 24;

/** Returns true if the bytes begin with the magic number of a zstd dictionary (RFC 8878, section 5). */
export function isZstdDictionary(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32LE(0) === 0xec30a437;
}

/** Returns the id that a dictionary contains. */
export function dictionaryNumber(dictionary: Buffer): number {
  return dictionary.readUInt32LE(4);
}

/**
 * Returns a function that decodes the messages of a compressed stream. Binary messages are frames compressed with the
 * host's dictionary; text messages are uncompressed frames. A message is returned unchanged if it cannot be
 * decompressed, or would exceed `maxBytes` or a multiple of its length; the classifier then reports a parse error.
 */
export function decompressor(dictionary: Buffer, maxBytes: number): (data: Buffer, isBinary: boolean) => Buffer {
  const params = { [constants.ZSTD_d_windowLogMax]: maxWindowLog };
  return (data, isBinary) => {
    if (!isBinary) return data;
    try {
      return zstdDecompressSync(data, { dictionary, params, maxOutputLength: maxDecodedBytes(data.length, maxBytes) });
    } catch {
      return data;
    }
  };
}
