/** Base32 of RFC 4648 in lower case without padding, as used in DIDs and CIDs. */

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const values = new Int8Array(128).fill(-1);
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;

/** Decodes the text from index `from` to its end. Returns null unless that part is a canonical encoding. */
export function decodeBase32(text: string, from: number): Buffer | null {
  const length = text.length - from;
  const bytes = Buffer.allocUnsafe((length * 5) >> 3);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = from; i < text.length; i++) {
    const value = values[text.charCodeAt(i)] ?? -1;
    if (value < 0) return null;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
    }
  }
  // Leftover bits must be zero and fewer than the five bits of a character. Otherwise several texts would decode to the
  // same bytes.
  return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}

/** Encodes bytes as base32. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((held >> bits) & 31);
    }
  }
  return bits > 0 ? text + alphabet.charAt((held << (5 - bits)) & 31) : text;
}
