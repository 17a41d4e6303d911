/**
 * Parses values of artifacts by the documented rules. Most rules throw `malformed` for a value that must not be
 * published.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The parts of an artifact that the service may publish, according to the contract. */
export interface Reading {
  readonly schema: 'recent' | 'legacy' | 'weather' | 'weatherwatch';
  readonly generatedAt: Json | undefined;
  readonly provenance: JsonObject;
  readonly facts: Readonly<Record<string, JsonObject>>;
  readonly caveats: readonly string[];
  /** Origin of the artifact. The first caveat states every origin except `live`. */
  readonly origin: string;
  readonly label: LabelReading | null;
  readonly freshness: JsonObject | null;
}

interface LabelReading {
  readonly hold: boolean;
  readonly warming: boolean;
  /** Time of the last accepted page, or undefined if the schema has no such field. */
  readonly observedThrough: Json | undefined;
}

export type Instrument = 'labels' | 'weather';

/**
 * Thrown for an artifact that must not be published. All cases share one instance, because capturing stack traces would
 * take most of the time.
 */
export const malformed = new Error('malformed');

const second = 1_000_000_000n;
export const day = 86_400n * second;

/** Converts an RFC 3339 timestamp in UTC to nanoseconds since 1970. Returns null if the rules make it unusable. */
export function instant(text: unknown): bigint | null {
  if (typeof text !== 'string') return null;
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|\+00:00)$/.exec(text);
  if (!parts) return null;
  const [year = 0, month = 0, date = 0, hour = 0, minute = 0, sec = 0] = parts.slice(1, 7).map(Number);
  if (hour > 23 || minute > 59 || sec > 59) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, date);
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== date) return null;
  const seconds = BigInt(midnight.getTime() / 1000 + hour * 3600 + minute * 60 + sec);
  return seconds * second + BigInt((parts[7] ?? '').padEnd(9, '0').slice(0, 9));
}

/** Converts milliseconds of a clock to nanoseconds since 1970. */
export function clockInstant(ms: number): bigint {
  return BigInt(ms) * 1_000_000n;
}

/** Converts nanoseconds to seconds, rounded to the nearest JSON number. */
export function seconds(nanoseconds: bigint): number {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const text = `${size / second}.${String(size % second).padStart(9, '0')}`;
  return nanoseconds < 0n ? -Number(text) : Number(text);
}

/** Returns the quotient rounded down to an integer. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

function refuse(): never {
  throw malformed;
}

export function object(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : refuse();
}

export function count(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : refuse();
}

export function positive(value: Json | undefined): number {
  return count(value) >= 1 ? count(value) : refuse();
}

export function rate(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : refuse();
}

/** Returns a string as well-formed Unicode. Throws `malformed` for other values. */
export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value.toWellFormed() : refuse();
}

export function flag(value: Json | undefined): boolean {
  return typeof value === 'boolean' ? value : refuse();
}

export function list<T>(value: Json | undefined, item: (member: Json) => T): T[] {
  return Array.isArray(value) ? value.map(item) : refuse();
}

export function word(known: readonly string[]): (value: Json | undefined) => string {
  return (value) => (typeof value === 'string' && known.includes(value) ? value : refuse());
}

/** Creates the rule for a closed enum. Unknown values are published as `unknown`. */
export function wordOrUnknown(known: readonly string[]): (value: Json | undefined) => string {
  return (value) => (known.includes(text(value)) ? text(value) : 'unknown');
}

/** Returns a required timestamp. Throws `malformed` if the timestamp is unusable. */
export function time(value: Json | undefined): string {
  return instant(value) === null ? refuse() : String(value);
}

/** Returns a timestamp, or null if it is unusable. */
export function timeOrNull(value: Json | undefined): string | null {
  return instant(value) === null ? null : String(value);
}

export function nullOr<T>(item: (value: Json | undefined) => T): (value: Json | undefined) => T | null {
  return (value) => (value === null ? null : item(value));
}

/**
 * Returns the named fields of an object, each converted by its rule. If a rule returns `undefined`, the field is
 * omitted.
 */
export function fields<T>(from: JsonObject, rules: Record<string, (value: Json | undefined) => T>): Record<string, T> {
  const made = Object.entries(rules).map(([key, rule]) => [key, rule(from[key])] as const);
  return Object.fromEntries(made.filter(([, value]) => value !== undefined));
}

export function optional<T>(item: (value: Json | undefined) => T): (value: Json | undefined) => T | undefined {
  return (value) => (value === undefined ? undefined : item(value));
}

export function labelerDid(value: Json | undefined): string {
  const did = text(value);
  return /^did:plc:[a-z2-7]{24}$|^did:web:[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(did) ? did : refuse();
}

export function uuid(value: Json | undefined): string {
  const found = text(value);
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(found) ? found : refuse();
}

/** Returns any finite number, including a negative age. Throws `malformed` for other values. */
export function number(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : refuse();
}

/** Throws `malformed` if an interval ends before it starts. */
export function inOrder(start: unknown, end: unknown): void {
  const isInverted = typeof start === typeof end && (end as number | bigint) < (start as number | bigint);
  if (start !== null && end !== null && isInverted) refuse();
}

/** Returns the sum of counts. Throws `malformed` if the sum is not a valid count. */
export function sum(values: readonly number[]): number {
  return count(values.reduce((total, value) => total + value, 0));
}

export function atMost(value: number, limit: number): number {
  return value <= limit ? value : refuse();
}
