import { zstdDecompressSync } from 'node:zlib';
import { maxDecodedBytes } from '../../input/limits.ts';

/** Returns true if the bytes begin like a zstd dictionary (RFC 8878, section 5). */
export function isZstdDictionary(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32LE(0) === 0xec30a437;
}

/** Returns the id contained in a dictionary. */
export function dictionaryNumber(dictionary: Buffer): number {
  return dictionary.readUInt32LE(4);
}

/**
 * Creates a reader of the messages of a compressed stream: binary messages are frames compressed with the host's
 * dictionary, text messages are uncompressed frames. A message that cannot be decompressed, or would exceed `maxBytes`
 * or a multiple of its length, is returned unchanged, and the classifier reports a parse error.
 */
export function decompressor(dictionary: Buffer, maxBytes: number): (data: Buffer, isBinary: boolean) => Buffer {
  return (data, isBinary) => {
    if (!isBinary) return data;
    try {
      return zstdDecompressSync(data, { dictionary, maxOutputLength: maxDecodedBytes(data.length, maxBytes) });
    } catch {
      return data;
    }
  };
}
