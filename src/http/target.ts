const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the path of a request target in origin form or absolute form (RFC 9112, section 3.2), without its query.
 * Returns a target in any other form without its query. Neither decodes nor normalizes the path.
 */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.startsWith('/')) return path;
  const absolute = absoluteForm.exec(path);
  if (!absolute) return path;
  return path.slice(absolute[0].length) || '/';
}

/** Returns the part of a path below a base path; null if the path is not below it. */
export function below(base: string, path: string): string | null {
  if (base === '') return path;
  return path.startsWith(base) && path[base.length] === '/' ? path.slice(base.length) : null;
}
