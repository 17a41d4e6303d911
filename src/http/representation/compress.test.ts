import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codings, encode, encodeOnce } from './negotiation.ts';

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

it('any body is decoded to its original bytes after it is encoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.constantFrom(...codings), (body, coding) => {
      const bytes = Buffer.from(body);
      expect(decoders[coding](encode(bytes, coding))).toEqual(bytes);
      const once = encodeOnce(bytes, coding);
      expect(decoders[once.coding](once.bytes)).toEqual(bytes);
    }),
  );
});

it('encodeOnce does not compress a body of less than 1,400 bytes', () => {
  const coded = [1_399, 1_400].map((length) => encodeOnce(Buffer.alloc(length), 'br').coding);
  expect(coded).toEqual(['identity', 'br']);
});
