import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { OperatorError, systemWords } from './errors.ts';

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

/** Sources of settings in order of precedence: flags, `ALMANAC_*` variables, the config file, the default. */
export interface SettingSources {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags of all commands. A variable or config key that belongs to another command is not an error. */
  readonly knownFlags: readonly string[];
}

/** Resolved settings of a command, with its positional arguments. */
interface Resolved<S extends Settings> {
  readonly values: Values<S>;
  readonly positionals: readonly string[];
}

/** Name of the flag for the config file. The flag itself is not a setting. */
const configFlag = 'config';

/**
 * Resolves a command's settings. Throws OperatorError for an unknown setting (and suggests a similar known name if
 * there is one), for an invalid value (and names its source), and for an unusable config file.
 */
export function resolveSettings<S extends Settings>(settings: S, sources: SettingSources): Resolved<S> {
  const table = Object.values(settings);
  const { given, positionals } = readFlags(table, sources.args);
  const config = given.get(configFlag) ?? textList(sources.env[variableOf(configFlag)]);
  const fromFile = config ? readConfig(config.at(-1) ?? '', sources.knownFlags) : new Map<string, string[]>();
  refuseUnknownVariables(sources.env, sources.knownFlags);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const { flag } = setting;
    const variable = sources.env[variableOf(flag)];
    const texts = given.get(flag);
    if (texts) values[name] = parsed(setting, `--${flag}`, texts);
    else if (variable !== undefined) values[name] = parsed(setting, variableOf(flag), split(setting, variable));
    else if (fromFile.has(flag)) values[name] = parsed(setting, `config "${flag}"`, fromFile.get(flag) ?? []);
    else values[name] = setting.fallback;
  }
  return { values: values as Values<S>, positionals };
}

function readFlags(table: readonly Setting<unknown>[], args: readonly string[]) {
  const options: Record<string, { type: 'string' | 'boolean'; multiple: true }> = {
    [configFlag]: { type: 'string', multiple: true },
  };
  for (const { flag, placeholder } of table) {
    options[flag] = { type: placeholder === null ? 'boolean' : 'string', multiple: true };
  }
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens ?? []) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (!option) throw unknown(`setting --${token.name}`, token.name, Object.keys(options), (flag) => `--${flag}`);
    if (option.type === 'string' && token.value === undefined)
      throw new OperatorError(`--${token.name} requires a value`);
    given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? 'true']);
  }
  return { given, positionals };
}

function readConfig(path: string, knownFlags: readonly string[]): Map<string, string[]> {
  const object = parseConfig(path);
  const found = new Map<string, string[]>();
  for (const [key, value] of Object.entries(object)) {
    if (!knownFlags.includes(key))
      throw unknown(`key "${key}" in the config file`, key, knownFlags, (flag) => `"${flag}"`);
    const members: unknown[] = Array.isArray(value) ? value : [value];
    if (members.some((member) => !['string', 'number', 'boolean'].includes(typeof member))) {
      throw new OperatorError(`config "${key}" requires a string, a number, true, false, or a list of strings`);
    }
    found.set(key, members.map(String));
  }
  return found;
}

function parseConfig(path: string): object {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`cannot read the config file ${path}: ${systemWords(error)}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The check below reports invalid JSON like any other file that is not a JSON object.
  }
  throw new OperatorError(`the config file ${path} does not contain exactly one JSON object`);
}

function refuseUnknownVariables(env: SettingSources['env'], knownFlags: readonly string[]): void {
  const known = [...knownFlags, configFlag].map(variableOf);
  for (const name of Object.keys(env)) {
    if (name.startsWith('ALMANAC_') && !known.includes(name))
      throw unknown(`setting ${name}`, name, known, (variable) => variable);
  }
}

function parsed(setting: Setting<unknown>, from: string, texts: readonly string[]): unknown {
  try {
    return setting.parse(texts);
  } catch (error) {
    throw new OperatorError(
      `${from} ${error instanceof Error ? error.message : 'is invalid'}; got ${JSON.stringify(texts.at(-1))}`,
    );
  }
}

function split(setting: Setting<unknown>, variable: string): string[] {
  return setting.repeatable ? variable.split(',').map((member) => member.trim()) : [variable];
}

function textList(variable: string | undefined): string[] | undefined {
  return variable === undefined ? undefined : [variable];
}

/** Creates the error for an unknown name, with the nearest known name as a suggestion if it is similar. */
export function unknown(
  what: string,
  name: string,
  known: readonly string[],
  spell: (known: string) => string,
): OperatorError {
  // Suggest a known name that begins with the unknown one, even if most of it is missing.
  const begun = known.find((one) => name.length > 2 && one.startsWith(name));
  const meant = begun ?? known.find((one) => isSwap(name, one));
  const nearest = meant ?? closest(name, known);
  const near = meant !== undefined || isSlip(distance(name, nearest), name);
  return new OperatorError(`unknown ${what}${near ? `; did you mean ${spell(nearest)}?` : ''}`);
}

/**
 * Returns true if the names differ only by two swapped adjacent characters, which counts as two edits but is one typing
 * error.
 */
function isSwap(name: string, one: string): boolean {
  const at = [...name].findIndex((letter, i) => letter !== one[i]);
  const [first = '', second = ''] = name.slice(Math.max(0, at));
  return at >= 0 && one === name.slice(0, at) + second + first + name.slice(at + 2);
}

/**
 * Returns true if the names differ by at most two letters, and by fewer than half of the letters of `name`. A
 * suggestion for a larger difference would mislead.
 */
function isSlip(edits: number, name: string): boolean {
  return edits <= 2 && edits < name.length / 2;
}
