import { parseTimestamp } from '../contract/timestamp.ts';

/** Before the title of a page whose facts are not of the live network: it can never be taken for real in a tab. */
export const originTitles = { simulated: '[simulated] ', sample: '[sample] ' } as const;

/** Between a number and its unit: no line breaks there. */
const space = '\u00a0';

/**
 * Numbers as people read them. None claims more than its number: shares and lengths of time are cut downwards (but for
 * time that was missed, of which less would be more than is known), a share below the whole never reads as 100 %, and something never reads as nothing.
 */

const formats = new Map<number, Intl.NumberFormat>();

/** Made once for each number of digits: to make one takes longer than to format a hundred numbers. */
function withDigits(maximumFractionDigits: number): Intl.NumberFormat {
  let format = formats.get(maximumFractionDigits);
  if (!format) {
    format = new Intl.NumberFormat('en-US', { maximumFractionDigits });
    formats.set(maximumFractionDigits, format);
  }
  return format;
}

/** A count, whole, with its thousands apart. */
export function countText(count: number): string {
  return withDigits(0).format(count);
}

/** Events per second: three digits that count, and never zero for what is more than zero. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.001) return `<${space}0.001`;
  if (perSecond >= 1e12) return perSecond.toExponential(2);
  const fractionDigits = perSecond >= 100 ? 1 : perSecond >= 1 ? 2 : 3;
  return withDigits(fractionDigits).format(perSecond);
}

/** A share of the whole in per cent. */
export function percentText(share: number): string {
  if (share > 0 && share < 0.0001) return `<${space}0.01${space}%`;
  if (share >= 1e6) return `${(share * 100).toExponential(2)}${space}%`;
  // The decimal digits are cut as they stand: a product of binary fractions may fall on the wrong side of them.
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

/** Days are told from here on; below, hours say more. In seconds. */
const daysFrom = 72 * 3_600;

/** A length of time (not negative) in its two largest units; finer ones are cut. */
export function spanText(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `<${space}1${space}s`;
  if (seconds >= 1e12) return `${seconds.toExponential(2)}${space}s`;
  const { large, small } = unitsOf(seconds);
  if (!large) return `0${space}s`;
  const rest = small ? Math.floor((seconds % large.seconds) / small.seconds) : 0;
  const head = `${countText(Math.floor(seconds / large.seconds))}${space}${large.name}`;
  return small && rest > 0 ? `${head}${space}${rest}${space}${small.name}` : head;
}

/** The same of time that was missed: what is finer counts whole, as less than was missed would be a claim. */
export function missedText(seconds: number): string {
  const { large, small } = unitsOf(seconds);
  const finest = (small ?? large)?.seconds;
  // What rounds up may come to have a larger unit.
  return spanText(finest === undefined ? seconds : Math.ceil(seconds / finest) * finest);
}

/** The units that a length of time is told in; none below a second. */
function unitsOf(seconds: number) {
  const known = units.filter(({ name }) => name !== 'd' || seconds >= daysFrom);
  const first = known.findIndex((unit) => seconds >= unit.seconds);
  return { large: known[first], small: first < 0 ? undefined : known[first + 1] };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** An instant of the contract in UTC, to the minute or the second; finer digits are cut. */
export function instantText(timestamp: string, precision: 'minute' | 'second' = 'minute'): string {
  const date = dateOf(timestamp);
  if (date === null) return timestamp;
  const seconds = precision === 'second' ? `:${two(date.getUTCSeconds())}` : '';
  return `${dateText(timestamp)}, ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds} UTC`;
}

/** The word that agrees with a number: `is` of one, `are` of none and of several. */
export function agreeing(n: number, one: string, several: string): string {
  return n === 1 ? one : several;
}

/** The UTC day of an instant of the contract. */
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
