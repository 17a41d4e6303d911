/** Matches one list member: an entity tag, or any other text up to the next comma (RFC 9110, section 8.8.3). */
const member = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\uffff]*")[ \t]*(?=,|$)|[^,]*)(?:,|$)/y;

/**
 * Returns true if an `If-None-Match` header contains the entity tag, by weak comparison (RFC 9110, section 13.1.2).
 * Supports lists, weak tags and `*`. A malformed member matches nothing.
 */
export function matchesEntityTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  const wanted = opaque(etag);
  member.lastIndex = 0;
  while (member.lastIndex < header.length) {
    const match = member.exec(header);
    if (!match) return false;
    if (match[1] === wanted) return true;
  }
  return false;
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}

/** A byte range of a body; `from` is inclusive, `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const oneRange = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Returns the range of a body that a `Range` header requests (RFC 9110, section 14). Returns null, which selects the
 * whole body, if the header is absent or malformed, has a unit other than bytes, or requests several ranges. Returns
 * `unsatisfiable` if the body has no byte of the range.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const match = header === undefined ? null : oneRange.exec(header);
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return null;
    const suffix = Number(last);
    return suffix === 0 || bytes === 0 ? 'unsatisfiable' : { from: Math.max(0, bytes - suffix), to: bytes };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= bytes) return 'unsatisfiable';
  return { from, to: last === '' ? bytes : Math.min(bytes, Number(last) + 1) };
}
