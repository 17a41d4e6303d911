/**
 * Finds the end of the first request head in received bytes: the index after its blank line, or -1. It only decides how
 * many bytes the parser gets at once, so a body that looks like a head costs a turn and changes no meaning.
 */
export function endOfHead(bytes: Buffer): number {
  const strict = bytes.indexOf('\n\r\n');
  const bare = bytes.subarray(0, strict < 0 ? bytes.length : strict + 1).indexOf('\n\n');
  if (bare >= 0) return bare + 2;
  return strict < 0 ? -1 : strict + 3;
}

/** Returns true if received bytes hold more than `max` blank lines, each of which may end a request. */
export function holdsMoreHeads(bytes: Buffer, max: number): boolean {
  let heads = 0;
  for (let at = bytes.indexOf('\n\r\n'); at >= 0; at = bytes.indexOf('\n\r\n', at + 3)) {
    heads += 1;
    if (heads > max) return true;
  }
  return false;
}

/** Without a part for the spaces around the value: a client chooses them, and matching them could take quadratic time. */
const forwardedFor = /^x-forwarded-for:(.*)$/gim;

/** Reads `X-Forwarded-For` of the first head in received bytes; undefined without one. */
export function forwardedForOf(bytes: Buffer): string | undefined {
  const end = endOfHead(bytes);
  if (end < 0) return undefined;
  const values = [...bytes.toString('latin1', 0, end).matchAll(forwardedFor)].map(([, value = '']) => value.trim());
  return values.length === 0 ? undefined : values.join(', ');
}
