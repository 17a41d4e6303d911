const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * Returns the path of a request target in origin form or absolute form (RFC 9112, section 3.2), without the query and
 * without decoding or normalization.
 */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.startsWith('/')) return path;
  const absolute = absoluteForm.exec(path);
  if (!absolute) return path;
  return path.slice(absolute[0].length) || '/';
}

/** Returns the part of a path after a base path, or null if the path is not below the base path. */
export function below(base: string, path: string): string | null {
  if (base === '') return path;
  return path.startsWith(base) && path[base.length] === '/' ? path.slice(base.length) : null;
}
