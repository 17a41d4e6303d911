/**
 * The parameters of a query string, each decoded by the rules of forms. A value that cannot be decoded, or that is
 * given more than once, is null: it is refused, under the code of its parameter, and never guessed at.
 */
export type Parameters = ReadonlyMap<string, string | null>;

/** Most parameters that are looked at; no query of this surface has as many. */
const maxParameters = 32;

/**
 * Reads the query string of a request target (without its question mark). A parameter with an empty value is left
 * out: it is a field of a form that was not filled in. Null when a name cannot be decoded or there are too many.
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

/** The query string of a request target, without its question mark. */
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
