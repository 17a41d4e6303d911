/**
 * Encoding of parameters and results. PostgreSQL cannot store a NUL character in a string, but a label may contain
 * NUL. Stored strings therefore replace NUL by U+0001 and the digit 0, and U+0001 itself by U+0001 and the digit 1.
 */

/** A parameter that is not an array. */
export type Scalar = string | number | boolean | null | Uint8Array;
/** A parameter of a query. An array becomes a PostgreSQL array. */
export type Value = Scalar | readonly Scalar[];

/** Encodes a string for storage. */
export function encodeText(text: string): string {
  return needsCode(text) ? text.replaceAll('\u0001', '\u00011').replaceAll('\0', '\u00010') : text;
}

/** Decodes a stored string. */
export function decodeText(stored: string): string {
  if (!stored.includes('\u0001')) return stored;
  // Every U+0001 in a stored string is the first character of a pair, so neither replacement can match across two
  // pairs.
  return stored.replaceAll('\u00010', '\0').replaceAll('\u00011', '\u0001');
}

/** Converts a parameter to the form that the driver sends. */
export function parameter(value: Value): string | Buffer | null {
  if (value === null) return null;
  if (typeof value === 'string') return encodeText(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'object') return `{${value.map(element).join(',')}}`;
  return String(value);
}

/** Returns a parameter as a literal in the text of a statement, whatever `standard_conforming_strings` is. */
export function literal(value: Value): string {
  const text = parameter(value);
  if (text === null) return 'NULL';
  if (typeof text !== 'string') return ` E'\\\\x${text.toString('hex')}'`;
  const quoted = text.replaceAll("'", "''");
  return quoted.includes('\\') ? ` E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}

function element(value: Scalar): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoted(encodeText(value));
  // The hexadecimal form of bytes begins with a backslash, which must be escaped within an array.
  if (value instanceof Uint8Array) {
    return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
  }
  return String(value);
}

function quoted(text: string): string {
  return `"${text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

function needsCode(text: string): boolean {
  return text.includes('\0') || text.includes('\u0001');
}
