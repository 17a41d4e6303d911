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
