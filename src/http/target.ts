const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * The path of a request target: exact, without its query, nothing decoded or tidied. Origin form and absolute
 * form (RFC 9112, section 3.2) are understood.
 */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.startsWith('/')) return path;
  const absolute = absoluteForm.exec(path);
  if (!absolute) return path;
  return path.slice(absolute[0].length) || '/';
}

/** The path inside a namespace, or null when it lies outside it. */
export function below(base: string, path: string): string | null {
  if (base === '') return path;
  return path.startsWith(base) && path[base.length] === '/' ? path.slice(base.length) : null;
}
