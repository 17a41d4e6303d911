/**
 * Returns the index after the blank line that ends the first request head in the received bytes, or -1 if no head is
 * complete. The result decides only how many bytes the parser receives at once, so a body that looks like a head is
 * still parsed correctly.
 */
export function endOfHead(bytes: Buffer): number {
  const strict = bytes.indexOf('\n\r\n');
  const bare = bytes.subarray(0, strict < 0 ? bytes.length : strict + 1).indexOf('\n\n');
  if (bare >= 0) return bare + 2;
  return strict < 0 ? -1 : strict + 3;
}

/**
 * Returns true if the received bytes contain more than `max` blank lines, each of which may end a head. Counts blank
 * lines with CRLF and with bare LF, as `endOfHead` does, because each blank line costs the parser a call even if
 * it ignores or rejects the line. Takes linear time: each search for a kind of blank line continues at the end of the last
 * head.
 */
export function holdsMoreHeads(bytes: Buffer, max: number): boolean {
  let strict = bytes.indexOf('\n\r\n');
  let bare = bytes.indexOf('\n\n');
  for (let heads = 0; strict >= 0 || bare >= 0; ) {
    heads += 1;
    if (heads > max) return true;
    const end = bare >= 0 && (strict < 0 || bare < strict) ? bare + 2 : strict + 3;
    if (strict >= 0 && strict < end) strict = bytes.indexOf('\n\r\n', end);
    if (bare >= 0 && bare < end) bare = bytes.indexOf('\n\n', end);
  }
  return false;
}

/**
 * Matches `X-Forwarded-For` headers. The value includes surrounding spaces, because excluding them could take quadratic
 * time.
 */
const forwardedFor = /^x-forwarded-for:(.*)$/gim;

/**
 * Returns the joined values of `X-Forwarded-For` in the first head of the received bytes; undefined if the head is
 * incomplete or has no such header.
 */
export function forwardedForOf(bytes: Buffer): string | undefined {
  const end = endOfHead(bytes);
  if (end < 0) return undefined;
  const values = [...bytes.toString('latin1', 0, end).matchAll(forwardedFor)].map(([, value = '']) => value.trim());
  return values.length === 0 ? undefined : values.join(', ');
}
