import type { Micros } from '../contract/timestamp.ts';
import { missedUnits, type SpanUnit, spanUnits } from './format.ts';

/** Languages of the pages for people. The first is the project's language and the default. */
export const languages = ['en', 'de', 'es', 'pt', 'ja'] as const;

/** A language of the pages. */
export type Language = (typeof languages)[number];

/** Texts for the plural categories of a language. `other` is used for categories without their own text. */
export type PluralForms = { readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/**
 * Formats of numbers, times, durations and plurals in one language. Times are in UTC; the texts of `minute` and
 * `second` name the time zone.
 */
export interface Formats {
  /** Formats a count with thousands separators. */
  count(n: number): string;
  /** Returns the plural form for a number. */
  plural(n: number, forms: PluralForms): string;
  /** Formats a number with its noun, such as `1 row` or `165,000 rows`. */
  counted(n: number, forms: PluralForms): string;
  /** Formats the UTC day of an instant: `20 Nov 2026`. */
  day(at: Micros): string;
  /** Formats an instant to the minute: `20 Nov 2026, 14:03 UTC`. */
  minute(at: Micros): string;
  /** Formats an instant to the second: `20 Nov 2026, 14:03:05 UTC`. */
  second(at: Micros): string;
  /** Formats the day and month of an instant, for a tick of an axis: `20 Nov`. */
  dayTick(at: Micros): string;
  /** Formats the month of an instant, for a tick of an axis: `Nov`; with the year in January. */
  monthTick(at: Micros): string;
  /**
   * Formats a value of an axis with at most three decimals, one below 0.01 with two significant digits, and a large one in
   * its short form: `1,500`, `0.25`, `0.0015` or `150k`.
   */
  axisValue(n: number): string;
  /** Formats the time of day in UTC: `14:03`. */
  clock(at: Micros): string;
  /** Formats a duration (in seconds) in its two largest units and truncates the rest. */
  span(seconds: number): string;
  /**
   * Formats a duration of missed time (in seconds). Rounds up, because rounding down would overstate what was observed.
   */
  missed(seconds: number): string;
  /** Returns the name of the language `tag` in this language; null if the tag is invalid or its name is unknown. */
  languageName(tag: string): string | null;
  /** Text between two sentences: a space, except in Japanese. */
  readonly sentenceSpace: string;
}

/** Locale for the formats of each language. English pages write the day before the month and use the 24-hour clock. */
const locales: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de', es: 'es', pt: 'pt', ja: 'ja' };

const date = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' } as const;
const time = { timeZone: 'UTC', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** Length of a day in milliseconds. */
const dayLength = 86_400_000;

const made = new Map<Language, Formats>();

/** Returns the formats of a language; all callers share one object. */
export function formatsOf(language: Language): Formats {
  const known = made.get(language) ?? createFormats(language);
  made.set(language, known);
  return known;
}

/**
 * Creates the formats of a language. Each format is created on first use and cached, because creating one takes as long
 * as formatting hundreds of values.
 */
function createFormats(language: Language): Formats {
  const locale = locales[language];
  const numbers = once(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }));
  const plurals = once(() => new Intl.PluralRules(locale));
  const days = once(() => new Intl.DateTimeFormat(locale, date));
  const minutes = once(() => new Intl.DateTimeFormat(locale, { ...date, ...time, timeZoneName: 'short' }));
  const seconds = once(
    () => new Intl.DateTimeFormat(locale, { ...date, ...time, second: '2-digit', timeZoneName: 'short' }),
  );
  const clocks = once(() => new Intl.DateTimeFormat(locale, time));
  const dayTicks = once(() => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' }));
  const monthTicks = once(() => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short' }));
  const januaries = once(() => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short', year: 'numeric' }));
  const axisValues = once(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }));
  const smallAxisValues = once(() => new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 }));
  const largeAxisValues = once(
    () => new Intl.NumberFormat(locale, { maximumFractionDigits: 3, notation: 'compact', compactDisplay: 'short' }),
  );
  const lists = once(() => new Intl.ListFormat(locale, { type: 'unit', style: 'short' }));
  const units = {
    d: once(() => unitFormat(locale, 'day')),
    h: once(() => unitFormat(locale, 'hour')),
    min: once(() => unitFormat(locale, 'minute')),
    s: once(() => unitFormat(locale, 'second')),
  };
  const names = once(() => new Intl.DisplayNames(locale, { type: 'language', fallback: 'none' }));
  const plural = (n: number, forms: PluralForms): string => forms[plurals().select(n)] ?? forms.other;
  const durations = new Map<string, string>();
  const duration = (parts: readonly SpanUnit[], isUnderOne: boolean): string => {
    const key = parts.map(({ name, value }) => `${value}${name}`).join(' ');
    const text = cached(durations, key, () =>
      lists().format(parts.map(({ name, value }) => units[name]().format(value))),
    );
    return isUnderOne ? `< ${text}` : text;
  };
  return {
    count: (n) => numbers().format(n),
    plural,
    counted: (n, forms) => `${numbers().format(n)} ${plural(n, forms)}`,
    day: cachedByDay(days, ''),
    minute: cachedByDay(minutes, '00:00'),
    second: cachedByDay(seconds, '00:00:00'),
    dayTick: (at) => dayTicks().format(milliseconds(at)),
    monthTick: (at) => {
      const isJanuary = new Date(milliseconds(at)).getUTCMonth() === 0;
      return (isJanuary ? januaries() : monthTicks()).format(milliseconds(at));
    },
    axisValue: (n) => {
      const size = Math.abs(n);
      return (size < 0.01 ? smallAxisValues() : size < 100_000 ? axisValues() : largeAxisValues()).format(n);
    },
    clock: (at) => clocks().format(milliseconds(at)),
    span: (length) => duration(spanUnits(length), isUnderSecond(length)),
    missed: (length) => duration(missedUnits(length), isUnderSecond(length)),
    languageName: (tag) => nameIn(names(), tag),
    sentenceSpace: locale === 'ja' ? '' : ' ',
  };
}

/** Maximum number of texts that a format caches. A page shows the days of one window, and few different durations. */
const maxCached = 500;

/** Returns the cached text of a key, or creates and caches it. */
function cached<Key>(texts: Map<Key, string>, key: Key, create: () => string): string {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = create();
  if (texts.size >= maxCached) texts.clear();
  texts.set(key, text);
  return text;
}

/**
 * Returns a function that formats instants as `format` does. It formats each day only once, because `Intl` takes
 * microseconds for an instant and a page has up to a thousand of them. `midnight` is the time of day in the text of the
 * first instant of a day; it is replaced with the time of the instant.
 */
function cachedByDay(format: () => Intl.DateTimeFormat, midnight: '' | '00:00' | '00:00:00'): (at: Micros) => string {
  const texts = new Map<number, string>();
  return (at) => {
    const instant = milliseconds(at);
    const day = Math.floor(instant / dayLength) * dayLength;
    const text = cached(texts, day, () => format().format(day));
    return midnight === ''
      ? text
      : text.replace(midnight, new Date(instant).toISOString().slice(11, 11 + midnight.length));
  };
}

function unitFormat(locale: string, unit: 'day' | 'hour' | 'minute' | 'second'): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
}

/** Returns the name of the language `tag`, which comes from a labeler and may be invalid for `Intl`. */
function nameIn(names: Intl.DisplayNames, tag: string): string | null {
  try {
    return names.of(tag) ?? null;
  } catch {
    return null;
  }
}

function isUnderSecond(length: number): boolean {
  return length > 0 && length < 1;
}

function milliseconds(at: Micros): number {
  return Math.floor(at / 1000);
}

function once<T>(create: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= create();
    return made;
  };
}
