/** Compact forms of texts that labels contain. Each form restores the exact text; a text without the form is kept. */

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const values = new Int8Array(128).fill(-1);
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;

/** Length of the bytes of a CID that `packCid` converts. */
export const cidBytes = 36;

/**
 * Decodes the text from index `from` to its end: base32 of RFC 4648 in lower case without padding, as used in DIDs and
 * CIDs. Returns null unless that part is a canonical encoding.
 */
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

/** Converts the base32 text of a CID with 36 bytes to these bytes; returns null for any other text. */
export function packCid(cid: string): Buffer | null {
  if (cid.length !== 59 || !cid.startsWith('b')) return null;
  const bytes = decodeBase32(cid, 1);
  return bytes && bytes.length === cidBytes ? bytes : null;
}

/** Returns the text of a CID that `packCid` converted. */
export function unpackCid(bytes: Uint8Array): string {
  return `b${encodeBase32(bytes)}`;
}

/** Form of a time that is the same after parsing and formatting, apart from the ranges of its numbers. */
const pattern = '0000-00-00T00:00:00.000Z';
/** First year that `Date.UTC` takes as it is. */
const firstYear = 1000;

/**
 * Returns a time from the year 1000 in milliseconds, or null if formatting the number would not reproduce the exact
 * text. Compares numbers instead of formatting the time, which takes eight times as long.
 */
export function exactMillis(text: string): number | null {
  if (text.length !== pattern.length) return null;
  for (let i = 0; i < pattern.length; i++) {
    const code = text.charCodeAt(i);
    const expected = pattern.charCodeAt(i);
    if (expected === 48 ? code < 48 || code > 57 : code !== expected) return null;
  }
  const year = 100 * digits(text, 0) + digits(text, 2);
  const month = digits(text, 5);
  const day = digits(text, 8);
  const [hour, minute, second] = [digits(text, 11), digits(text, 14), digits(text, 17)];
  if (year < firstYear || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null;
  if (day > daysIn(year, month)) return null;
  return Date.UTC(year, month - 1, day, hour, minute, second, 10 * digits(text, 20) + text.charCodeAt(22) - 48);
}

/** Returns the number of two digits. */
function digits(text: string, from: number): number {
  return 10 * text.charCodeAt(from) + text.charCodeAt(from + 1) - 11 * 48;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
