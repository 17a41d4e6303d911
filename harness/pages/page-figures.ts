import { visible } from '../../src/web/foreign.tsx';
import { elementsWith, textsOf } from './html.ts';

/** Documents from which a page was rendered, by the names that the page's figures refer to. */
type Documents = Readonly<Record<string, unknown>>;

/**
 * Periods that are part of the names of facts, such as 24 hours in `events_24h`, or of charts. A page contains no other
 * digits outside figures.
 */
const spanNames = /\b(?:24 hours|72 hours|7 days|30 days|12 months)\b/g;

/**
 * Describes each part of a page that its documents do not support: digits outside a figure, a figure whose number
 * differs from the referenced value, or quoted text that is not from the instrument. Parses the visible numbers
 * independently of the program.
 */
export function untrueOn(html: string, documents: Documents): string[] {
  const faults: string[] = [];
  const body = html.slice(html.indexOf('<body'));
  for (const { text, within } of textsOf(html.replace(/^[\s\S]*?(?=<body)/, '').replace(/<\/html>$/, ''))) {
    const sourced = within.some(({ attributes }) =>
      ['data-at', 'data-said', 'data-name'].some((name) => name in attributes),
    );
    if (!sourced && /\d/.test(text.replaceAll(spanNames, ''))) faults.push(`digits without a source: ${text}`);
  }
  for (const { value: at, element, text } of elementsWith(tail(body), 'data-at')) {
    const stated = valueAt(documents, at);
    if (element.tag === 'time') {
      if (element.attributes.datetime !== stated || !isInstant(text, String(stated)))
        faults.push(`${at}: shows ${text} for ${stated}`);
    } else if (typeof stated !== 'number' || Number(element.attributes.value) !== Math.abs(stated)) {
      faults.push(`${at}: has the value ${element.attributes.value} for ${stated}`);
    } else if (!isNumber(text.replaceAll('\u00a0', ' '), Math.abs(stated)))
      faults.push(`${at}: shows ${text} for ${stated}`);
  }
  for (const { value: at, text } of elementsWith(tail(body), 'data-said')) {
    const stated = valueAt(documents, at);
    const expected = typeof stated === 'string' ? visible(stated, 500) : null;
    if (expected === null || text !== expected.text + (expected.cut ? ' … (shortened)' : ''))
      faults.push(`${at}: ${text}`);
  }
  return faults;
}

/** Returns the document pointers of a page's figures. */
export function figuresOn(html: string): string[] {
  return elementsWith(tail(html.slice(html.indexOf('<body'))), 'data-at').map(({ value }) => value);
}

function tail(body: string): string {
  return body.replace(/<\/html>$/, '');
}

function valueAt(documents: Documents, at: string): unknown {
  return at
    .split('/')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      documents,
    );
}

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

function isInstant(text: string, stated: string): boolean {
  const match = /^(\d{1,2}) (\w{3}) (\d{4}), (\d\d):(\d\d)(?::(\d\d))? UTC$/.exec(text);
  if (!match) return false;
  const [, day, month = '', year, hour, minute, second] = match;
  const shown = new Date(0);
  shown.setUTCFullYear(Number(year), months.indexOf(month) / 3, Number(day));
  shown.setUTCHours(Number(hour), Number(minute), Number(second ?? 0));
  const behind = Date.parse(stated) - shown.getTime();
  return behind >= 0 && behind < (second === undefined ? 60_000 : 1_000);
}

const seconds: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, min: 60, s: 1 };
/**
 * Upper bound, in seconds, of the omitted part of a displayed duration, by its first unit. A displayed duration has
 * this unit and at most the next smaller unit.
 */
const nextFiner: Readonly<Record<string, number>> = { d: 3_600, h: 60, min: 1, s: 1 };

function isNumber(text: string, stated: number): boolean {
  const below = /^< ([\d.]+)( %| s)?$/.exec(text);
  if (below) return stated > 0 && stated < Number(below[1]) / (below[2] === ' %' ? 100 : 1);
  const large = /^(\d\.\d\de\+\d+)( %| s)?$/.exec(text);
  if (large) return Math.abs(Number(large[1]) / (large[2] === ' %' ? 100 : 1) - stated) <= stated * 0.0051;
  const share = /^(\S+) %$/.exec(text);
  if (share) return isCut(plain(share[1]) / 100, stated, 0.000_100_001);
  const parts = [...text.matchAll(/(\S+) (d|h|min|s)\b/g)];
  if (parts.length > 0) {
    const shown = parts.reduce((sum, [, n, unit = '']) => sum + plain(n) * (seconds[unit] ?? 0), 0);
    return parts.map(([part]) => part).join(' ') === text && isCut(shown, stated, nextFiner[parts[0]?.[2] ?? ''] ?? 0);
  }
  if (Number.isSafeInteger(stated)) return plain(text) === stated;
  return Math.abs(plain(text) - stated) <= (stated >= 100 ? 0.051 : stated >= 1 ? 0.0051 : 0.000_51);
}

function plain(text = ''): number {
  return Number(text.replaceAll(',', ''));
}

function isCut(shown: number, stated: number, least: number): boolean {
  const spare = stated * 1e-12 + 1e-12;
  return shown <= stated + spare && stated - shown < least + spare;
}
