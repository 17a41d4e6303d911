import { createHash, type Hash } from 'node:crypto';
import { fromBytes, isBytes } from '@atcute/cbor';
import { isObject } from '../../input/json-budget.ts';
import { identityOf } from '../../store/label.ts';
import { readLabel } from './label-fields.ts';

/**
 * Returns the fingerprint of one row of a labeler. The fingerprint of a storable label is its label identity; the
 * fingerprint of any other row is a hash of the row without its signature and row number. A row has the same
 * fingerprint in the stream and in a poll, and after it is signed again. To bound the cost, a row that is far larger
 * than any label is hashed only in part.
 */
export function fingerprint(value: unknown): string {
  const label = isObject(value) ? readLabel(value) : 'malformed';
  if (typeof label !== 'string') return identityOf(label).toString('hex');
  const hash = createHash('sha256').update('almanac.row/1\n');
  new RowDigest(hash).add(value, 0);
  return hash.digest('hex').slice(0, 32);
}

/** Maximum depth of hashed values; a deeper value is hashed as an empty object. */
const maxDepth = 8;
/** Maximum number of values of one row that are hashed; a label that can be stored has fewer. */
const maxValues = 4_096;
/**
 * Number of characters that are hashed at each end of a long string, in addition to its length; a multiple of four,
 * so that the ends of base64 text are whole groups.
 */
const endLength = 32_768;

/**
 * Fields that are not hashed: the signature, and the row number that a skyware labeler includes in pages but not in
 * frames.
 */
const unhashedFields: ReadonlySet<string> = new Set(['sig', 'id']);

/**
 * Hashes a row as JSON with sorted keys. Works incrementally, so that the complete text of a row is never in memory.
 */
class RowDigest {
  readonly #hash: Hash;
  #values = 0;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  add(value: unknown, depth: number): void {
    this.#values += 1;
    if (typeof value === 'string') this.#text(value.length, (from, to) => value.slice(from, to));
    else if (typeof value !== 'object' || value === null)
      this.#raw(value === null ? '{}' : (JSON.stringify(value) ?? 'null'));
    else if (depth > maxDepth || this.#values > maxValues) this.#raw('{}');
    else if (Array.isArray(value)) this.#array(value, depth);
    else if (isBytes(value) || value instanceof Uint8Array) this.#bytes(value);
    else this.#object(value, depth);
  }

  #raw(text: string): void {
    this.#hash.update(text);
  }

  #array(items: readonly unknown[], depth: number): void {
    this.#raw('[');
    for (let i = 0; i < items.length && this.#values <= maxValues; i += 1) {
      if (i > 0) this.#raw(',');
      this.add(items[i], depth + 1);
    }
    this.#raw(']');
  }

  #object(value: object, depth: number): void {
    const isLink = '$link' in value && typeof value.$link === 'string';
    const fields: [string, unknown][] = isLink ? [['$link', value.$link]] : Object.entries(value);
    const counted = fields
      .filter(([name]) => depth > 0 || !unhashedFields.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    this.#raw('{');
    for (const [i, [name, field]] of counted.entries()) {
      if (this.#values > maxValues) break;
      if (i > 0) this.#raw(',');
      this.#text(name.length, (from, to) => name.slice(from, to));
      this.#raw(':');
      this.add(field, depth + 1);
    }
    this.#raw('}');
  }

  /** Hashes bytes in their JSON form, for values from JSON and from frames. */
  #bytes(value: Uint8Array | { readonly $bytes: string }): void {
    this.#raw('{"$bytes":');
    if (value instanceof Uint8Array || !Object.hasOwn(value, '$bytes')) {
      const bytes = value instanceof Uint8Array ? value : fromBytes(value);
      const { buffer, byteOffset, length } = bytes;
      const from = Buffer.from(buffer, byteOffset, length);
      this.#text(Math.ceil((length * 4) / 3), (start, end) =>
        from
          .subarray((start * 3) / 4, Math.ceil((end * 3) / 4))
          .toString('base64')
          .slice(0, end - start),
      );
    } else {
      const text = value.$bytes;
      let { length } = text;
      while (length > 0 && text.charCodeAt(length - 1) === 0x3d) length -= 1;
      this.#text(length, (start, end) => text.slice(start, end));
    }
    this.#raw('}');
  }

  #text(length: number, slice: (from: number, to: number) => string): void {
    if (length <= 2 * endLength) {
      this.#raw(JSON.stringify(slice(0, length)));
      return;
    }
    const tail = Math.floor((length - endLength) / 4) * 4;
    this.#raw(`${JSON.stringify(slice(0, endLength))}${length}${JSON.stringify(slice(tail, length))}`);
  }
}
