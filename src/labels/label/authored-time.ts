import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';

const withOffset = /^(.+)([+-])(\d{2}):(\d{2})$/;

/**
 * Parses a label's `cts`: RFC 3339 with any offset, because labelers write the offset of their machine. Returns null if
 * the text is not an instant, in which case the label is undated.
 */
export function parseAuthored(text: unknown): Micros | null {
  if (typeof text !== 'string' || text.length > 64) return null;
  const match = withOffset.exec(text);
  if (!match) return parseTimestamp(text);
  const [hours, minutes] = [Number(match[3]), Number(match[4])];
  const local = parseTimestamp(`${match[1]}Z`);
  if (local === null || hours > 23 || minutes > 59) return null;
  const offset = (hours * 60 + minutes) * 60_000_000;
  return (match[2] === '+' ? local - offset : local + offset) as Micros;
}
