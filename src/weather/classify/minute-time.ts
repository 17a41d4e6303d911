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
