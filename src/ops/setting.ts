/**
 * One setting of one command. Its flag determines the name of its `ALMANAC_*` variable and its key in the config file.
 * The parser, the help text and the documented tables are all derived from the tables of settings.
 */
export interface Setting<T> {
  /** Name without dashes, in kebab case: `max-age-seconds`. */
  readonly flag: string;
  /** Placeholder for the value in the help text; null for a switch, which has no value. */
  readonly placeholder: string | null;
  readonly help: string;
  readonly fallback: T;
  /** True if the flag may be given more than once; the values form a list. */
  readonly repeatable: boolean;
  /**
   * Parses the given values. The message of a thrown error follows the name of the setting, as in `--port requires …`.
   */
  readonly parse: (texts: readonly string[]) => T;
}

/** Type of the values of a table of settings. */
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** A table of settings by their names in the code. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

function last(texts: readonly string[]): string {
  return texts.at(-1) ?? '';
}

/** Creates a text setting. */
export function text(flag: string, placeholder: string, fallback: string, help: string): Setting<string> {
  return { flag, placeholder, help, fallback, repeatable: false, parse: last };
}

/** Creates a text setting that may be absent. An absent setting is off, or is derived from another setting. */
export function optionalText(flag: string, placeholder: string, help: string): Setting<string | null> {
  return { flag, placeholder, help, fallback: null, repeatable: false, parse: last };
}

/** Creates a setting whose value is one of a fixed list. */
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

/** Creates a number setting within bounds; the value has at most six decimals. */
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
    const limit = /^\d+\.\d{7,}$/.test(last(texts)) ? ' with at most six decimals' : '';
    throw new Error(`requires a number from ${bounds.min} to ${bounds.max}${limit}`);
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

/** Creates a list setting. The flag may be repeated; the environment variable is a comma-separated list. */
export function list(
  flag: string,
  placeholder: string,
  fallback: readonly string[],
  help: string,
): Setting<readonly string[]> {
  return { flag, placeholder, help, fallback, repeatable: true, parse: (texts) => texts.filter((one) => one !== '') };
}

/** Returns the environment variable of a flag, such as `ALMANAC_MAX_AGE_SECONDS` for `max-age-seconds`. */
export function variableOf(flag: string): string {
  return `ALMANAC_${flag.replaceAll('-', '_').toUpperCase()}`;
}
