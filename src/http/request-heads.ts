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

/** Returns true if the received bytes contain more than `max` blank lines, each of which may end a request head. */
export function holdsMoreHeads(bytes: Buffer, max: number): boolean {
  let heads = 0;
  for (let at = bytes.indexOf('\n\r\n'); at >= 0; at = bytes.indexOf('\n\r\n', at + 3)) {
    heads += 1;
    if (heads > max) return true;
  }
  return false;
}

/**
 * Matches `X-Forwarded-For` headers. The value includes surrounding spaces, because excluding them could take quadratic
 * time.
 */
const forwardedFor = /^x-forwarded-for:(.*)$/gim;

/**
 * Returns the value of `X-Forwarded-For` in the first head of the received bytes; undefined if that header is absent.
 */
export function forwardedForOf(bytes: Buffer): string | undefined {
  const end = endOfHead(bytes);
  if (end < 0) return undefined;
  const values = [...bytes.toString('latin1', 0, end).matchAll(forwardedFor)].map(([, value = '']) => value.trim());
  return values.length === 0 ? undefined : values.join(', ');
}
