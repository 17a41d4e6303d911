/**
 * Resume position at one endpoint, with marks of the labels at that position. The marks detect a reset of the labeler's
 * database.
 */
export interface ReadPosition {
  /** Last sequence number of the stream, or null if no number is known. */
  readonly seq: number | null;
  /** Mark of the last label of the frame with that sequence number (`last-row.ts`); null if the frame had no label. */
  readonly seqTail: string | null;
  /** Last decimal cursor of `queryLabels`, or null if there was none. */
  readonly cursor: number | null;
  /** Mark of the last label before that cursor. */
  readonly cursorTail: string | null;
}

/** Position of a source that was never read. */
export const noPosition: ReadPosition = { seq: null, seqTail: null, cursor: null, cursorTail: null };

/** A row that was read, by its number and mark. */
export interface MarkedRow {
  readonly number: number;
  readonly mark: string;
}

/**
 * Returns the newest row before a position, or null if no row is known. Labelers use one number for a row in streams and
 * pages.
 */
export function newestRowOf({ seq, seqTail, cursor, cursorTail }: ReadPosition): MarkedRow | null {
  const ofPages = cursor === null || cursorTail === null ? null : { number: cursor, mark: cursorTail };
  if (seq === null || seqTail === null) return ofPages;
  return ofPages === null || seq >= ofPages.number ? { number: seq, mark: seqTail } : ofPages;
}

/** Formats a position for the store. */
export function writePosition({ seq, seqTail, cursor, cursorTail }: ReadPosition): string {
  return JSON.stringify([seq, seqTail, cursor, cursorTail]);
}

/**
 * Parses a stored position; returns null for a position of another version, so that the source is read from the
 * start.
 */
export function readPosition(text: string): ReadPosition | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(value) || value.length !== 4) return null;
  const [seq, seqTail, cursor, cursorTail] = value as unknown[];
  if (!isNumber(seq) || !isText(seqTail) || !isNumber(cursor) || !isText(cursorTail)) return null;
  return { seq, seqTail, cursor, cursorTail };
}

function isNumber(value: unknown): value is number | null {
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
