/**
 * Parameters of a query string, decoded like form data. A parameter that occurs more than once or cannot be decoded has
 * the value null, so that the query is refused with the error code of that parameter.
 */
export type Parameters = ReadonlyMap<string, string | null>;

/** Maximum number of parameters that are parsed; every valid query has fewer. */
const maxParameters = 32;

/**
 * Parses the query string of a request target, without its question mark. Omits parameters with an empty value, which
 * browsers send for unused form fields. Returns null if a name cannot be decoded or there are too many parameters.
 */
export function parseParameters(search: string): Parameters | null {
  const found = new Map<string, string | null>();
  if (search === '') return found;
  const pairs = search.split('&', maxParameters + 1);
  if (pairs.length > maxParameters) return null;
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = decoded(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === null) return null;
    if (value !== '') found.set(name, found.has(name) ? null : value);
  }
  return found;
}

/** Returns the query string of a request target, without its question mark. */
export function searchOf(target: string): string {
  const question = target.indexOf('?');
  return question < 0 ? '' : target.slice(question + 1);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
