/** First segment of the path of an address inside a space, `at://DID/space/…`. */
const segment = 'space';

/**
 * Returns an SQL condition for rows about an address inside a space. `schema` is the name of the database that
 * contains the row. The address `at://DID/space/NAME` is stored like a record address, with the collection `space`.
 * All longer and shorter addresses are stored as text.
 */
export function aboutSpaceSql(schema: 'main' | 'day'): string {
  const collection = `(SELECT id FROM ${schema}.collection WHERE name = '${segment}')`;
  return `(collection IS NOT NULL AND collection IS ${collection}
    OR collection IS NULL AND rest IS NOT NULL AND (rest = '/${segment}' OR substr(rest, 1, 7) = '/${segment}/'))`;
}
