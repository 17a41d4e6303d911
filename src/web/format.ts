import { parseTimestamp } from '../contract/timestamp.ts';

/** Non-breaking space between a number and its unit. */
const space = '\u00a0';

/**
 * Number formats for pages. Shares and durations are rounded down, missed time is rounded up, and rates are rounded to
 * the nearest value. A share below one is never shown as 100 %, and a positive number is never shown as zero.
 */

const formats = new Map<number, Intl.NumberFormat>();

/** Returns a cached number format, because creating one takes longer than formatting a hundred numbers. */
function withDigits(maximumFractionDigits: number): Intl.NumberFormat {
  let format = formats.get(maximumFractionDigits);
  if (!format) {
    format = new Intl.NumberFormat('en-US', { maximumFractionDigits });
    formats.set(maximumFractionDigits, format);
  }
  return format;
}

/** Formats a count with thousands separators. */
export function countText(count: number): string {
  return withDigits(0).format(count);
}

/**
 * Formats events per second with at most three decimals, fewer for a high rate. A positive rate is never shown as zero.
 */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.001) return `<${space}0.001`;
  if (perSecond >= 1e12) return perSecond.toExponential(2);
  const fractionDigits = perSecond >= 100 ? 1 : perSecond >= 1 ? 2 : 3;
  return withDigits(fractionDigits).format(perSecond);
}

/**
 * Formats a fraction as a percentage, truncated to two decimals. A positive fraction is never shown as 0 %, and one
 * below 1 never as 100 %.
 */
export function percentText(share: number): string {
  if (share > 0 && share < 0.0001) return `<${space}0.01${space}%`;
  if (share >= 1e6) return `${(share * 100).toExponential(2)}${space}%`;
  // `toFixed` removes the binary rounding error of the product before the digits are truncated.
  const cut = Math.floor(Number((share * 10_000).toFixed(6))) / 100;
  const shown = share < 1 ? Math.min(cut, 99.99) : cut;
  return `${withDigits(2).format(shown)}${space}%`;
}

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
] as const;

/** Minimum duration in seconds that is shown in days instead of hours. */
const daysFrom = 72 * 3_600;

/** One unit of a formatted duration, with its number. */
export interface SpanUnit {
  readonly value: number;
  readonly name: (typeof units)[number]['name'];
}

/**
 * Splits a duration (in seconds, not negative) into its two largest units and truncates the rest. Omits the second unit
 * if it is zero. A duration below one second becomes one second, which the caller must show as an upper limit.
 */
export function spanUnits(seconds: number): SpanUnit[] {
  const { large, small } = unitsOf(seconds);
  if (!large) return [{ value: seconds > 0 ? 1 : 0, name: 's' }];
  const rest = small ? Math.floor((seconds % large.seconds) / small.seconds) : 0;
  const head: SpanUnit = { value: Math.floor(seconds / large.seconds), name: large.name };
  return small && rest > 0 ? [head, { value: rest, name: small.name }] : [head];
}

/**
 * Splits a duration of missed time (in seconds) into its two largest units. Rounds up, because rounding down would
 * overstate what was observed.
 */
export function missedUnits(seconds: number): SpanUnit[] {
  return spanUnits(roundedUp(seconds));
}

/** Formats a duration (in seconds, not negative) in its two largest units and truncates the rest. */
export function spanText(seconds: number): string {
  if (seconds >= 1e12) return `${seconds.toExponential(2)}${space}s`;
  const text = spanUnits(seconds)
    .map(({ value, name }) => `${countText(value)}${space}${name}`)
    .join(space);
  return seconds > 0 && seconds < 1 ? `<${space}${text}` : text;
}

/**
 * Formats a duration of missed time (in seconds). Rounds up, because rounding down would overstate what was observed.
 */
export function missedText(seconds: number): string {
  return spanText(roundedUp(seconds));
}

/**
 * Rounds a duration up to a multiple of its second-largest unit, which may also increase its largest unit. Returns a
 * duration below one second unchanged.
 */
function roundedUp(seconds: number): number {
  const { large, small } = unitsOf(seconds);
  const finest = (small ?? large)?.seconds;
  return finest === undefined ? seconds : Math.ceil(seconds / finest) * finest;
}

/** Returns the two largest units of a duration; `large` is undefined below one second. */
function unitsOf(seconds: number) {
  const known = units.filter(({ name }) => name !== 'd' || seconds >= daysFrom);
  const first = known.findIndex((unit) => seconds >= unit.seconds);
  return { large: known[first], small: first < 0 ? undefined : known[first + 1] };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/**
 * Formats a timestamp of the contract in UTC, truncated to the day, the minute or the second. Returns any other text
 * unchanged.
 */
export function instantText(timestamp: string, precision: 'day' | 'minute' | 'second' = 'minute'): string {
  const at = parseTimestamp(timestamp);
  if (at === null) return timestamp;
  const date = new Date(Math.floor(at / 1000));
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const day = `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''} ${year}`;
  if (precision === 'day') return day;
  const seconds = precision === 'second' ? `:${two(date.getUTCSeconds())}` : '';
  return `${day}, ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds} UTC`;
}

/** Returns the word form for a number: `one` for 1, otherwise `several`. */
export function agreeing(n: number, one: string, several: string): string {
  return n === 1 ? one : several;
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}
