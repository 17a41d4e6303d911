/** One member of the list: an entity tag, or anything else up to the next comma (RFC 9110, section 8.8.3). */
const member = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\uffff]*")[ \t]*(?=,|$)|[^,]*)(?:,|$)/y;

/**
 * Whether `If-None-Match` names this entity tag, by weak comparison (RFC 9110, section 13.1.2): a list, the weak
 * form and `*` are understood; a malformed member matches nothing.
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
