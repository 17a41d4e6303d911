/**
 * Returns true if an `If-None-Match` header matches an entity tag by the weak comparison of RFC 9110. A malformed entry
 * matches nothing and leaves the other entries valid; RFC 9110 does not define this case.
 */
export function etagMatches(header: string, etag: string | null): boolean {
  const trimmed = header.replace(/^[ \t]+|[ \t]+$/g, '');
  const opaque = etag?.replace(/^W\//, '');
  return trimmed === '*' || (opaque !== undefined && opaqueTags(trimmed).includes(opaque));
}

/** Returns the quoted parts of the entries that are entity tags. A comma within quotes does not end an entry. */
function opaqueTags(header: string): string[] {
  const members = header.match(/(?:W\/)?"[^"]*"[^,]*|[^,]+/g) ?? [];
  const tags = members.map((member) => /^[ \t]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*$/.exec(member)?.[1]);
  return tags.filter((tag) => tag !== undefined);
}
