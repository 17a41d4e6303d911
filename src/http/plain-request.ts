import type { ReadRequest } from './read-request.ts';

/** Maximum size of a request for the fast path, in bytes. */
const longest = 8 * 1024;

/** Maximum number of header fields of a request for the fast path. */
const maxFields = 100;

const target = /^\/[\x21-\x7e]*$/;
const headerBlock = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+$/;

/** Matches the header fields that affect message framing or the connection, which only the full parser handles. */
const framing =
  /^(?:connection|content-length|expect|http2-settings|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Parses the most common form of request: a complete HTTP/1.1 GET in one chunk, with one Host header, without a body,
 * and without header fields about framing or the connection except `Connection: keep-alive`. Returns null for any other
 * request, which the caller passes to the full parser. The full parser accepts every request that this function
 * accepts.
 */
export function parsePlainRequest(bytes: Buffer): ReadRequest | null {
  if (bytes.length > longest || bytes[0] !== 0x47) return null;
  const text = bytes.toString('latin1');
  if (!text.startsWith('GET ') || !text.endsWith('\r\n\r\n')) return null;
  const lineEnd = text.indexOf('\r\n');
  if (!text.startsWith(' HTTP/1.1', lineEnd - 9)) return null;
  const wanted = text.slice(4, lineEnd - 9);
  const block = text.slice(lineEnd + 2, -2);
  if (!target.test(wanted) || !headerBlock.test(block)) return null;
  return readFields(wanted, block);
}

function readFields(wanted: string, block: string): ReadRequest | null {
  let fields = 0;
  let hosts = 0;
  let ifNoneMatch: string | undefined;
  let acceptEncoding: string | undefined;
  let accept: string | undefined;
  for (let at = 0; at < block.length; ) {
    if (++fields > maxFields) return null;
    const end = block.indexOf('\r\n', at);
    const colon = block.indexOf(':', at);
    const name = block.slice(at, colon).toLowerCase();
    if (name === 'host') hosts++;
    else if (name === 'if-none-match') ifNoneMatch = joined(ifNoneMatch, trimmed(block.slice(colon + 1, end)));
    else if (name === 'accept-encoding') acceptEncoding = joined(acceptEncoding, trimmed(block.slice(colon + 1, end)));
    else if (name === 'accept') accept = joined(accept, trimmed(block.slice(colon + 1, end)));
    else if (framing.test(name) && !keepsAlive(name, block.slice(colon + 1, end))) return null;
    at = end + 2;
  }
  return hosts === 1 ? { method: 'GET', target: wanted, ifNoneMatch, acceptEncoding, accept } : null;
}

/** Removes HTTP white space (spaces and tabs) from both ends of a field value. */
function trimmed(value: string): string {
  return value.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '');
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

/** Returns true for `Connection: keep-alive`, the default of HTTP/1.1. */
function keepsAlive(name: string, value: string): boolean {
  return name === 'connection' && trimmed(value).toLowerCase() === 'keep-alive';
}
