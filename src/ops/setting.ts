/**
 * One setting of one command: its flag, from which its `ALMANAC_*` variable and its key in the config file derive. The
 * tables of settings are the single source of the parser, the help text and the documented tables.
 */
export interface Setting<T> {
  /** Name without dashes, in kebab case: `max-age-seconds`. */
  readonly flag: string;
  /** Placeholder of the value in the help text, or null for a switch, which takes no value. */
  readonly placeholder: string | null;
  readonly help: string;
  readonly fallback: T;
  /** True if the flag may be given more than once; the values form a list. */
  readonly repeatable: boolean;
  /** Parses the given texts. The message of a thrown error completes the text "--flag VALUE: …". */
  readonly parse: (texts: readonly string[]) => T;
}

/** Type of the values of a table of settings. */
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** A table of settings, by their names in the code. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

function last(texts: readonly string[]): string {
  return texts.at(-1) ?? '';
}

/** Creates a text setting. */
export function text(flag: string, placeholder: string, fallback: string, help: string): Setting<string> {
  return { flag, placeholder, help, fallback, repeatable: false, parse: last };
}

/** Creates a text setting that may be absent: off, or derived from another setting. */
export function optionalText(flag: string, placeholder: string, help: string): Setting<string | null> {
  return { flag, placeholder, help, fallback: null, repeatable: false, parse: last };
}

/** Creates a setting with one of a few values. */
export function choice<const W extends readonly string[]>(
  flag: string,
  words: W,
  fallback: W[number],
  help: string,
): Setting<W[number]> {
  return {
    flag,
    placeholder: words.join('|'),
    help,
    fallback,
    repeatable: false,
    parse: (texts) => {
      const word = words.find((known) => known === last(texts));
      if (word === undefined) throw new Error(`requires one of ${words.join(', ')}`);
      return word;
    },
  };
}

/** Minimum and maximum of a number, both inclusive. */
interface Bounds {
  readonly min: number;
  readonly max: number;
}

function wholeNumber(bounds: Bounds): (texts: readonly string[]) => number {
  return (texts) => {
    const value = /^\d{1,15}$/.test(last(texts)) ? Number(last(texts)) : Number.NaN;
    if (value >= bounds.min && value <= bounds.max) return value;
    throw new Error(`requires a whole number from ${bounds.min} to ${bounds.max}`);
  };
}

/** Creates an integer setting within bounds. */
export function integer(
  flag: string,
  placeholder: string,
  fallback: number,
  bounds: Bounds,
  help: string,
): Setting<number> {
  return { flag, placeholder, help, fallback, repeatable: false, parse: wholeNumber(bounds) };
}

/** Creates a number setting within bounds, with at most six decimals. */
export function number(
  flag: string,
  placeholder: string,
  fallback: number,
  bounds: Bounds,
  help: string,
): Setting<number> {
  const parse = (texts: readonly string[]): number => {
    const value = /^\d{1,9}(\.\d{1,6})?$/.test(last(texts)) ? Number(last(texts)) : Number.NaN;
    if (value >= bounds.min && value <= bounds.max) return value;
    throw new Error(`requires a number from ${bounds.min} to ${bounds.max}`);
  };
  return { flag, placeholder, help, fallback, repeatable: false, parse };
}

/** Creates an integer setting within bounds that may be absent. */
export function optionalInteger(
  flag: string,
  placeholder: string,
  bounds: Bounds,
  help: string,
): Setting<number | null> {
  return { flag, placeholder, help, fallback: null, repeatable: false, parse: wholeNumber(bounds) };
}

/** Creates a switch, which is off by default. */
export function toggle(flag: string, help: string): Setting<boolean> {
  return {
    flag,
    placeholder: null,
    help,
    fallback: false,
    repeatable: false,
    parse: (texts) => {
      if (last(texts) === 'true' || last(texts) === '1') return true;
      if (last(texts) === 'false' || last(texts) === '0') return false;
      throw new Error('requires true or false');
    },
  };
}

/** Creates a list setting: the flag may be repeated, and the environment variable is a comma-separated list. */
export function list(
  flag: string,
  placeholder: string,
  fallback: readonly string[],
  help: string,
): Setting<readonly string[]> {
  return { flag, placeholder, help, fallback, repeatable: true, parse: (texts) => texts.filter((one) => one !== '') };
}

/** Returns the variable of a flag: `ALMANAC_MAX_AGE_SECONDS` for `max-age-seconds`. */
export function variableOf(flag: string): string {
  return `ALMANAC_${flag.replaceAll('-', '_').toUpperCase()}`;
}
