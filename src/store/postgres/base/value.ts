import pg from 'pg';
import type { NewRow } from './row.ts';

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

/**
 * COPY of rows into a table, in PostgreSQL's binary format. A row costs the server about a fifth of the time that it
 * costs as part of arrays, and shares its entry in the log with other rows.
 */

/** Columns of the rows that `binaryRows` returns, in this order. */
export const copiedColumns = 'at, source, target, flags, ver, subject, val, rest, cts, cid, exp, identity, body, extra';
const columns = 14;

/** Message with the signature, the flags and the length of an extension, which precede the rows. */
const copyStart = Buffer.from('d\0\0\0\x17PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Message with a number of columns that ends the rows. */
const copyEnd = Buffer.from('d\0\0\0\x06\xff\xff', 'latin1');
/** Bytes of a message before its data: the type and the length. */
const frameBytes = 5;
/** Bytes of a row apart from its texts and bytes: the number of columns, their lengths, and four integers. */
const fixedBytes = 2 + 4 * columns + 8 + 4 + 2 + 2 + 8;
const maxBytesPerUnit = 3;

/**
 * Encodes rows for COPY with the format `binary` and the columns `copiedColumns`, as the message that carries them, so
 * that the driver does not have to copy the data. A COPY can have several such messages.
 */
export function binaryRows(rows: readonly NewRow[]): Buffer {
  const writer = new BinaryWriter(frameBytes + rows.reduce((sum, row) => sum + boundOf(row), 0));
  for (const row of rows) {
    writer.short(columns);
    writer.field8(row.at);
    writer.field4(row.source);
    writer.field2(row.target);
    writer.field2(row.flags);
    if (row.ver === null) writer.absent();
    else writer.field8(row.ver);
    for (const text of [row.subject, row.val, row.rest, row.cts, row.cid, row.exp]) writer.text(text);
    for (const bytes of [row.identity, row.body, row.extra]) writer.bytes(bytes);
  }
  return writer.written();
}

/** Returns a number that is at least the number of bytes of a row. */
function boundOf({ subject, val, rest, cts, cid, exp, identity, body, extra }: NewRow): number {
  const texts = subject.length + val.length + lengthOf(rest) + lengthOf(cts) + lengthOf(cid) + lengthOf(exp);
  // A code of `encodeText` doubles a character of one byte.
  return fixedBytes + maxBytesPerUnit * texts + identity.length + lengthOf(body) + lengthOf(extra);
}

function lengthOf(part: { readonly length: number } | null): number {
  return part?.length ?? 0;
}

/** Writes fields of the binary format, each with its length, into one buffer. */
class BinaryWriter {
  readonly #buffer: Buffer;
  #end = frameBytes;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
    this.#buffer.write('d', 'latin1');
  }

  short(value: number): void {
    this.#end = this.#buffer.writeInt16BE(value, this.#end);
  }

  absent(): void {
    this.#end = this.#buffer.writeInt32BE(-1, this.#end);
  }

  field2(value: number): void {
    this.#end = this.#buffer.writeInt32BE(2, this.#end);
    this.short(value);
  }

  field4(value: number): void {
    this.#end = this.#buffer.writeInt32BE(4, this.#end);
    this.#end = this.#buffer.writeInt32BE(value, this.#end);
  }

  /** Writes a safe integer as eight bytes, without a BigInt, which would be several times as slow. */
  field8(value: number): void {
    this.#end = this.#buffer.writeInt32BE(8, this.#end);
    const high = Math.floor(value / 2 ** 32);
    this.#end = this.#buffer.writeInt32BE(high, this.#end);
    this.#end = this.#buffer.writeUInt32BE(value - high * 2 ** 32, this.#end);
  }

  text(value: string | null): void {
    if (value === null) {
      this.absent();
      return;
    }
    const length = this.#buffer.write(encodeText(value), this.#end + 4);
    this.#buffer.writeInt32BE(length, this.#end);
    this.#end += 4 + length;
  }

  bytes(value: Uint8Array | null): void {
    if (value === null) {
      this.absent();
      return;
    }
    this.#end = this.#buffer.writeInt32BE(value.length, this.#end);
    this.#buffer.set(value, this.#end);
    this.#end += value.length;
  }

  written(): Buffer {
    this.#buffer.writeInt32BE(this.#end - 1, 1);
    return this.#buffer.subarray(0, this.#end);
  }
}

/** Connection of the driver, with the functions that its type definitions lack. */
interface CopyConnection {
  readonly stream: { cork(): void; uncork(): void; write(message: Buffer): void };
  query(text: string): void;
  endCopyFrom(): void;
}

/**
 * Statements, of which one may be a COPY whose data follows at once. The driver would wait for the server to ask for the
 * data, and further statements of the pipeline would be taken for data meanwhile. If a statement fails, the server skips
 * the other statements and the data.
 */
class CopyIn extends pg.Query {
  /** Maximum time until the server has answered, in milliseconds; read by the driver. */
  readonly query_timeout: number;

  constructor(
    text: string,
    data: readonly Buffer[] | null,
    timeoutMs: number,
    done: (error: Error | null | undefined, result: unknown) => void,
  ) {
    super({ text }, done);
    this.query_timeout = timeoutMs;
    this.submit = (driver) => {
      const connection = driver as unknown as CopyConnection;
      connection.stream.cork();
      connection.query(text);
      if (data !== null) {
        for (const message of [copyStart, ...data, copyEnd]) connection.stream.write(message);
        connection.endCopyFrom();
      }
      connection.stream.uncork();
      // The driver expects an error, or null if the statement was sent.
      return null;
    };
  }

  /** Called when the server asks for the data, which was already sent. */
  handleCopyInResponse(): void {
    // There is nothing to send.
  }
}

/**
 * Sends statements and the data of the COPY among them; `data` is null if there is none. Resolves with the command that
 * the server has run last.
 */
export function copyIn(
  client: pg.Client,
  text: string,
  data: readonly Buffer[] | null,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null | undefined, results: unknown): void => {
      if (error) reject(error);
      else resolve(lastCommand(results as pg.QueryResult | readonly pg.QueryResult[]));
    };
    client.query(new CopyIn(text, data, timeoutMs, done));
  });
}

function lastCommand(results: pg.QueryResult | readonly pg.QueryResult[]): string | null {
  return [results].flat().at(-1)?.command ?? null;
}
