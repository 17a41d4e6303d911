import { zstdDecompressSync } from 'node:zlib';
import { maxDecodedBytes } from '../../input/limits.ts';

/**
 * Returns true if the bytes begin like a zstd dictionary (RFC 8878, section 5), whose id distinguishes dictionaries.
 */
export function isZstdDictionary(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.readUInt32LE(0) === 0xec30a437;
}

/** The number that a dictionary names itself by. */
export function dictionaryNumber(dictionary: Buffer): number {
  return dictionary.readUInt32LE(4);
}

/**
 * Reads the messages of a compressed stream: binary ones are frames compressed with the host's dictionary, text ones
 * are frames as they are. What cannot be decompressed, or would be longer than `maxBytes` or than a multiple of what
 * came, comes back as it came, and the classifier calls it a parse error.
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
