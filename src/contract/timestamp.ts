/**
 * Parses and formats the timestamps in responses: RFC 3339 in UTC, with `Z` or `+00:00`. The service copies the
 * timestamps of instruments verbatim and parses them only to validate and compare them.
 */

const spelling = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|\+00:00)$/;
/** Maximum length of a timestamp in characters, because RFC 3339 does not limit the number of fraction digits. */
const maxLength = 64;

/** An instant in microseconds since 1970-01-01T00:00:00Z. More precise times are truncated. */
export type Micros = number & { readonly __unit: 'microseconds' };

/**
 * Parses a timestamp of the contract (RFC 3339; see "Timestamps in artifacts" in the decisions). Returns null if the
 * text is not a timestamp, is longer than `maxLength`, names a day or time that does not exist or a leap second, or has
 * an offset other than UTC. Never corrects such a text.
 */
export function parseTimestamp(text: unknown): Micros | null {
  if (typeof text !== 'string' || text.length > maxLength) return null;
  const match = spelling.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCDate() !== day || date.getUTCMonth() !== month - 1) return null;
  date.setUTCHours(hour, minute, second);
  const fraction = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'));
  return (date.getTime() * 1000 + fraction) as Micros;
}

const offset = /([+-])([01]\d|2[0-3]):([0-5]\d)$/;

/** The first instant of the year 0, and the last one of the year 9999 that a double can represent. */
const firstMicros = -62_167_219_200_000_000;
const lastMicros = 253_402_300_799_999_970;

/** Matches a fraction of a second that has a digit other than 0 after the sixth. */
const finerThanMicros = /\.\d{6}0*[1-9]/;

/**
 * Parses an instant, such as the bound of an interval that a client requests. Unlike `parseTimestamp`, accepts any
 * RFC 3339 offset. An instant between two microseconds is rounded up, so that the bound selects the same rows as the
 * exact instant. Before 1684 and after 2255, a double cannot represent every microsecond; the result is then less than
 * 50 microseconds off. An instant before the year 0 or after 9999 becomes the first or the last instant that
 * `formatMicros` can write. Returns null if the text is not such an instant.
 */
export function parseInstant(text: string): Micros | null {
  const zone = offset.exec(text);
  const spelled = zone ? `${text.slice(0, zone.index)}Z` : text;
  const local = parseTimestamp(spelled);
  if (local === null) return null;
  const minutes = zone ? (Number(zone[2]) * 60 + Number(zone[3])) * (zone[1] === '-' ? -1 : 1) : 0;
  const rounding = finerThanMicros.test(spelled) ? 1 : 0;
  return Math.max(firstMicros, Math.min(local + rounding - minutes * 60_000_000, lastMicros)) as Micros;
}

/** Formats `instant` (microseconds since 1970) as a timestamp: UTC, six decimals, `Z`. */
export function formatMicros(instant: Micros): string {
  const milliseconds = Math.floor(instant / 1000);
  const rest = String(instant - milliseconds * 1000).padStart(3, '0');
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`;
}

/**
 * Returns a valid timestamp verbatim. Returns null if the value is absent, a dash, or not a valid timestamp; never
 * corrects it.
 */
export function usableTimestamp(value: unknown): string | null {
  return typeof value === 'string' && parseTimestamp(value) !== null ? value : null;
}

/** Formats `milliseconds` since 1970 as the service writes timestamps: UTC, three decimals, `Z`. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Returns the seconds from `earlier` to `later`, exact to the microsecond; negative if `earlier` is after `later`. */
export function secondsBetween(earlier: Micros, later: Micros): number {
  return (later - earlier) / 1_000_000;
}

/** Converts milliseconds since 1970 to microseconds since 1970. */
export function microsFromMillis(milliseconds: number): Micros {
  return (milliseconds * 1000) as Micros;
}
