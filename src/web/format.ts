import { parseTimestamp } from '../contract/timestamp.ts';

/** Prefixes of the titles of pages that are not live: such a page is recognizable in a browser tab. */
export const originTitles = { simulated: '[simulated] ', sample: '[sample] ' } as const;

/** Non-breaking space between a number and its unit. */
const space = '\u00a0';

/**
 * Number formats for people. No format overstates its number: shares and durations are rounded down (except missed
 * time, for which a smaller value would overstate knowledge), a share below the whole never reads as 100 %, and
 * something never reads as nothing.
 */

const formats = new Map<number, Intl.NumberFormat>();

/** Cached per number of digits: creating a format takes longer than formatting a hundred numbers. */
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

/** Formats events per second with three significant digits; never zero for a positive rate. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.001) return `<${space}0.001`;
  if (perSecond >= 1e12) return perSecond.toExponential(2);
  const fractionDigits = perSecond >= 100 ? 1 : perSecond >= 1 ? 2 : 3;
  return withDigits(fractionDigits).format(perSecond);
}

/** Formats a share in per cent. */
export function percentText(share: number): string {
  if (share > 0 && share < 0.0001) return `<${space}0.01${space}%`;
  if (share >= 1e6) return `${(share * 100).toExponential(2)}${space}%`;
  // The decimal digits are truncated: a product of binary fractions may be on the wrong side of them.
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

/** Duration in seconds from which on days are shown instead of hours. */
const daysFrom = 72 * 3_600;

/** Formats a duration (not negative) in its two largest units; finer ones are truncated. */
export function spanText(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `<${space}1${space}s`;
  if (seconds >= 1e12) return `${seconds.toExponential(2)}${space}s`;
  const { large, small } = unitsOf(seconds);
  if (!large) return `0${space}s`;
  const rest = small ? Math.floor((seconds % large.seconds) / small.seconds) : 0;
  const head = `${countText(Math.floor(seconds / large.seconds))}${space}${large.name}`;
  return small && rest > 0 ? `${head}${space}${rest}${space}${small.name}` : head;
}

/** Formats the duration of missed time, rounded up: a smaller value would overstate what was observed. */
export function missedText(seconds: number): string {
  const { large, small } = unitsOf(seconds);
  const finest = (small ?? large)?.seconds;
  // Rounding up may lead to a larger unit.
  return spanText(finest === undefined ? seconds : Math.ceil(seconds / finest) * finest);
}

/** Returns the units in which a duration is shown; empty below a second. */
function unitsOf(seconds: number) {
  const known = units.filter(({ name }) => name !== 'd' || seconds >= daysFrom);
  const first = known.findIndex((unit) => seconds >= unit.seconds);
  return { large: known[first], small: first < 0 ? undefined : known[first + 1] };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Formats an instant of the contract in UTC, to the minute or the second; finer digits are truncated. */
export function instantText(timestamp: string, precision: 'minute' | 'second' = 'minute'): string {
  const date = dateOf(timestamp);
  if (date === null) return timestamp;
  const seconds = precision === 'second' ? `:${two(date.getUTCSeconds())}` : '';
  return `${dateText(timestamp)}, ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds} UTC`;
}

/** Returns the word that agrees with a number: `is` for one, `are` for none and for several. */
export function agreeing(n: number, one: string, several: string): string {
  return n === 1 ? one : several;
}

/** Formats the UTC day of an instant of the contract. */
export function dateText(timestamp: string): string {
  const date = dateOf(timestamp);
  if (date === null) return timestamp;
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''} ${year}`;
}

function dateOf(timestamp: string): Date | null {
  const at = parseTimestamp(timestamp);
  return at === null ? null : new Date(Math.floor(at / 1000));
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}
