const dayMs = 86_400_000;
const zero = 0x30;

/**
 * Parses UTC datetimes in the form of `subscribeEvents`: `2026-08-13T06:47:43.959305Z`. Up to nine decimals are
 * accepted, and truncated to microseconds. The last date is cached, because nearly all events share one date.
 */
export class EventTime {
  #date = -1;
  #dateMs = 0;

  /** Parses the text in `[from, to)` and returns microseconds since 1970, or 0 if the text is not such a datetime. */
  read(bytes: Uint8Array, from: number, to: number): number {
    if (to - from < 20 || bytes[to - 1] !== 0x5a || bytes[from + 10] !== 0x54) return 0;
    if (bytes[from + 4] !== 0x2d || bytes[from + 7] !== 0x2d || bytes[from + 13] !== 0x3a) return 0;
    if (bytes[from + 16] !== 0x3a) return 0;
    const year = two(bytes, from) * 100 + two(bytes, from + 2);
    const date = year * 10_000 + two(bytes, from + 5) * 100 + two(bytes, from + 8);
    const hour = two(bytes, from + 11);
    const minute = two(bytes, from + 14);
    const second = two(bytes, from + 17);
    const micros = fraction(bytes, from + 19, to - 1);
    if (!(date > 0) || !(hour < 24) || !(minute < 60) || !(second < 60) || micros < 0) return 0;
    if (date !== this.#date && !this.#remember(date)) return 0;
    return (this.#dateMs + ((hour * 60 + minute) * 60 + second) * 1000) * 1000 + micros;
  }

  #remember(date: number): boolean {
    const year = Math.floor(date / 10_000);
    const month = Math.floor(date / 100) % 100;
    const day = date % 100;
    const at = Date.UTC(year, month - 1, day);
    // Accept only dates that exist: `Date.UTC` turns 31 June into 1 July, and small years into other years.
    if (!(at > 0) || new Date(at).getUTCDate() !== day || month < 1 || month > 12 || at % dayMs !== 0) return false;
    this.#date = date;
    this.#dateMs = at;
    return true;
  }
}

/** Parses two digits. Returns NaN if the bytes are not digits. */
function two(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - zero;
  const ones = (bytes[at + 1] ?? 0) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/**
 * Returns the microseconds of a fraction `.ddd…` in `[from, to)`. Returns 0 for an empty text, and -1 if the text is
 * not a fraction.
 */
function fraction(bytes: Uint8Array, from: number, to: number): number {
  if (from === to) return 0;
  if (bytes[from] !== 0x2e || to - from < 2 || to - from > 10) return -1;
  let micros = 0;
  for (let i = 1; i <= 6; i += 1) {
    const digit = from + i < to ? (bytes[from + i] ?? 0) - zero : 0;
    if (digit < 0 || digit > 9) return -1;
    micros = micros * 10 + digit;
  }
  for (let i = from + 7; i < to; i += 1) {
    const digit = (bytes[i] ?? 0) - zero;
    if (digit < 0 || digit > 9) return -1;
  }
  return micros;
}

/** Length of a datetime as hosts send it, including its quotes, in bytes: `"2026-08-13T06:47:43.959305Z"`. */
export const quotedTimeLength = 29;

const minuteUs = 60_000_000;
/** Index of the text that follows the quote and the minute. This text is read in three pieces of four bytes. */
const restAt = 17;
/** `:00.`, `0000` and `00Z"` as little-endian numbers. */
const secondsForm = 0x2e30303a;
const digitsForm = 0x30303030;
const endForm = 0x225a3030;
/** Bits of these forms that hold the values of digits. */
const secondsDigits = 0x000f0f00;
const endDigits = 0x00000f0f;

/**
 * Parses datetimes that lie in the same minute as an earlier one. The parser compares the text with the earlier one in
 * steps of four bytes, and parses only the digits that follow the minute. Nearly all events are in the same minute as
 * the previous event.
 */
export class MinuteTime {
  /** First 16 bytes of the minute's text, starting after the quote. */
  #one = 0;
  #two = 0;
  #three = 0;
  #four = 0;
  #startUs = Number.NaN;

  /** Remembers the minute of a valid datetime. `from` is the index of the opening quote. */
  remember(bytes: DataView, from: number, timeUs: number): void {
    this.#one = bytes.getInt32(from + 1, true);
    this.#two = bytes.getInt32(from + 5, true);
    this.#three = bytes.getInt32(from + 9, true);
    this.#four = bytes.getInt32(from + 13, true);
    this.#startUs = timeUs - (timeUs % minuteUs);
  }

  /**
   * Returns the microseconds since 1970 of a quoted datetime with six decimals in the remembered minute, or 0 for any
   * other text.
   */
  read(bytes: DataView, from: number): number {
    if (bytes.getInt32(from + 13, true) !== this.#four || bytes.getInt32(from + 9, true) !== this.#three) return 0;
    if (bytes.getInt32(from + 5, true) !== this.#two || bytes.getInt32(from + 1, true) !== this.#one) return 0;
    const seconds = bytes.getInt32(from + restAt, true) ^ secondsForm;
    const four = bytes.getInt32(from + restAt + 4, true) ^ digitsForm;
    const end = bytes.getInt32(from + restAt + 8, true) ^ endForm;
    if (((seconds & ~secondsDigits) | (end & ~endDigits)) !== 0 || isNoDigits(seconds) || isNoDigits(end)) return 0;
    if (isNoDigits(four)) return 0;
    const second = ((seconds >> 8) & 15) * 10 + (seconds >> 16);
    if (second > 59) return 0;
    const high = (four & 15) * 1000 + ((four >> 8) & 15) * 100 + ((four >> 16) & 15) * 10 + (four >> 24);
    const low = (end & 15) * 10 + (end >> 8);
    return this.#startUs + second * 1_000_000 + high * 100 + low;
  }
}

/** Returns true if any byte of the number exceeds 9 or has its top bit set. */
function isNoDigits(digits: number): boolean {
  return (((digits + 0x76767676) | digits) & 0x80808080) !== 0;
}
