import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDefinitionsLine } from '../../../artifact/labelers/labeler-set.ts';
import { findIdentity, isPublishableValue, isValueSyntax } from '../../../contract/privacy/find-identity.ts';
import { isObject } from '../../../input/json-budget.ts';
import type { StoreReader } from '../../../store/port.ts';
import type { Definitions } from '../../../store/roster.ts';
import { dayName, dayOf } from '../../../store/time.ts';
import { timestamp } from '../coverage.ts';

/** A value that a labeler declares now or declared earlier. */
interface DeclaredValue {
  readonly value: string;
  /** UTC day of the first revision that declares the value. */
  readonly first_defined: string;
  /**
   * UTC day of the first later revision that does not declare the value, or null if the newest revision declares it.
   */
  readonly last_defined: string | null;
}

/** Values and texts in the stored revisions of a labeler's definitions. */
export interface LabelerDefinitions {
  /** False if the stored revisions could not be read yet, so that it is not known what the labeler declares. */
  readonly isRead: boolean;
  readonly values: readonly DeclaredValue[];
  /** Number of declared values that `values` omits. */
  readonly omitted: number;
  /** Line of the definitions file, or null if no revision is stored. */
  readonly line: string | null;
}

/** Definitions of a labeler without a stored revision. */
export const noDefinitions: LabelerDefinitions = { isRead: true, values: [], omitted: 0, line: null };
/** Definitions of a labeler whose stored revisions were never read. */
export const unreadDefinitions: LabelerDefinitions = { ...noDefinitions, isRead: false };

interface Cached extends LabelerDefinitions {
  /** Maximum line size in bytes for which the definitions were read; 0 after the labeler changed them. */
  readonly maxLine: number;
  /** Size of the line in bytes. */
  readonly lineBytes: number;
}

const nothingRead: Cached = { ...unreadDefinitions, maxLine: 0, lineBytes: 0 };

/**
 * Cache of the definitions of all labelers. The definitions of a labeler are read again only after the labeler changed
 * them.
 */
export class DefinitionCache {
  readonly #store: Pick<StoreReader, 'definitions'>;
  readonly #known = new Map<string, Cached>();

  constructor(store: Pick<StoreReader, 'definitions'>) {
    this.#store = store;
  }

  /** Marks the definitions of a labeler as outdated. Must be called after a revision was stored. */
  changed(did: string): void {
    const known = this.#known.get(did);
    if (known) this.#known.set(did, { ...known, maxLine: 0 });
  }

  /** Returns true if `of` can return the definitions of a labeler from the cache. */
  isCurrent(did: string, maxLine: number): boolean {
    return this.#known.get(did)?.maxLine === maxLine;
  }

  /** Returns the definitions of the last read, without their line if it is longer than `maxLine` bytes. */
  last(did: string, maxLine: number): LabelerDefinitions {
    const { isRead, values, omitted, line, lineBytes } = this.#known.get(did) ?? nothingRead;
    return { isRead, values, omitted, line: lineBytes <= maxLine ? line : null };
  }

  /**
   * Returns the definitions of a labeler. `line` has at most `maxLine` bytes and omits the definitions that do not fit.
   */
  async of(did: string, maxLine: number): Promise<LabelerDefinitions> {
    const known = this.#known.get(did);
    if (known?.maxLine === maxLine) return known;
    // Insert the entry before the read, so that a revision that is stored during the read replaces it.
    const before: Cached = { ...(known ?? nothingRead), maxLine: 0 };
    this.#known.set(did, before);
    const read = await definitionsFrom(did, await this.#store.definitions(did), maxLine);
    const isCurrent = this.#known.get(did) === before;
    const lineBytes = Buffer.byteLength(read.line ?? '');
    if (this.#known.has(did)) this.#known.set(did, { ...read, lineBytes, maxLine: isCurrent ? maxLine : 0 });
    return read;
  }

  /** Discards the definitions of labelers that are no longer listed. */
  keepOnly(dids: ReadonlySet<string>): void {
    for (const did of this.#known.keys()) if (!dids.has(did)) this.#known.delete(did);
  }
}

/** Reads the revisions of a labeler, newest first. Yields to the event loop after each revision and value. */
async function definitionsFrom(
  did: string,
  revisions: readonly Definitions[],
  maxLine: number,
): Promise<LabelerDefinitions> {
  const [newest] = revisions;
  if (newest === undefined) return noDefinitions;
  const values = new Map<string, DeclaredValue>();
  const definitions = new Map<string, Readonly<Record<string, unknown>>>();
  const names = new Set<string>();
  /** Day of the revision that follows the current one, or null for the newest revision. */
  let replacedOn: string | null = null;
  for (const { seenAt, content } of revisions) {
    const declared: Declared = declaredIn(content);
    const day = dayName(dayOf(seenAt));
    for (const name of declared.names) names.add(name);
    for (const value of declared.values) {
      const later = values.get(value);
      if (later === undefined && values.size >= maxDeclaredValues) continue;
      values.set(value, { value, first_defined: day, last_defined: later ? later.last_defined : replacedOn });
      const definition = declared.definitions.get(value);
      if (definition && !definitions.has(value)) definitions.set(value, definition);
    }
    replacedOn = day;
    await nextTurn();
  }
  const omitted = names.size - values.size;
  const line = await lineOf(did, newest, { definitions, omitted, maxLine });
  return { isRead: true, values: [...values.values()], omitted, line };
}

/**
 * Creates the line of the definitions file. The line contains, in order, each definition that still fits, and counts
 * the others as omitted.
 */
async function lineOf(
  did: string,
  { seenAt }: Definitions,
  {
    definitions,
    omitted: unnamed,
    maxLine,
  }: {
    readonly definitions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
    readonly omitted: number;
    readonly maxLine: number;
  },
): Promise<string> {
  const seen = timestamp(seenAt);
  const compose = (values: readonly ValueDefinition[], omitted: number): string =>
    JSON.stringify({ did, seen_at: seen, values, values_omitted: omitted });
  const listed: ValueDefinition[] = [];
  let omitted = unnamed;
  let bytes = Buffer.byteLength(compose([], definitions.size + unnamed));
  for (const [value, raw] of definitions) {
    const definition = textLength(raw) > maxLine - bytes ? null : definitionOf(value, raw);
    const size = definition === null ? Number.POSITIVE_INFINITY : Buffer.byteLength(JSON.stringify(definition)) + 1;
    if (definition !== null && bytes + size <= maxLine) {
      listed.push(definition);
      bytes += size;
    } else omitted += 1;
    await nextTurn();
  }
  const line = compose(listed, omitted);
  // Replace a line that readers would refuse with a line without texts, because a single invalid line makes the whole
  // artifact unreadable.
  return isDefinitionsLine(line) ? line : compose([], definitions.size + unnamed);
}

/** Maximum number of declared values that are considered in one revision. */
const maxDeclaredValues = 200;
/** Maximum number of locales that are considered for one value. */
const maxLocales = 100;
/** Maximum number of characters of a text. A value with a longer text is omitted. */
const maxText = 16 * 1024;
/** Maximum number of characters of a language tag, as in the schema of the artifact. */
const maxLanguageTag = 64;
const languageTag = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,7}$/;

/** Texts of one value in one language. */
interface LocaleTexts {
  readonly lang: string;
  readonly name: string;
  readonly description: string;
}

/** Definition of one value, as the artifact publishes it. */
interface ValueDefinition {
  readonly value: string;
  readonly severity: string | null;
  readonly blurs: string | null;
  readonly default_setting: string | null;
  readonly adult_only: boolean;
  readonly locales: readonly LocaleTexts[];
  readonly withheld?: 'privacy';
}

/** Content of one revision of a labeler's definitions. */
interface Declared {
  /** Values that may be published by name, in the order of the record. */
  readonly values: readonly string[];
  /** All declared names, of any syntax. */
  readonly names: ReadonlySet<string>;
  /** Raw definitions of the publishable values, by value. */
  readonly definitions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

const nothing: Declared = { values: [], names: new Set(), definitions: new Map() };

/** Parses one stored revision. Content of an unexpected shape declares no value. */
function declaredIn(content: string): Declared {
  let record: unknown;
  try {
    record = JSON.parse(content);
  } catch {
    return nothing;
  }
  if (!isObject(record)) return nothing;
  const definitions = new Map<string, Readonly<Record<string, unknown>>>();
  const names = new Set<string>();
  for (const name of listIn(record.labelValues)) if (typeof name === 'string') names.add(name);
  for (const definition of listIn(record.labelValueDefinitions)) {
    if (!isObject(definition) || typeof definition.identifier !== 'string') continue;
    const { identifier } = definition;
    names.add(identifier);
    if (!definitions.has(identifier)) definitions.set(identifier, definition);
  }
  const values = [...names].filter(isValueSyntax).slice(0, maxDeclaredValues).filter(isPublishableValue);
  const published = new Set(values);
  for (const name of definitions.keys()) if (!published.has(name)) definitions.delete(name);
  return { values, names, definitions };
}

/**
 * Returns the number of characters in the texts of a definition. The number is a lower bound on the size of the texts
 * in bytes before any text is withheld.
 */
function textLength(raw: Readonly<Record<string, unknown>>): number {
  let length = 0;
  for (const locale of listIn(raw.locales).slice(0, maxLocales)) {
    if (!isObject(locale)) continue;
    for (const text of [locale.name, locale.description]) if (typeof text === 'string') length += text.length;
  }
  return length;
}

/**
 * Projects one definition, field by field. A text that contains a DID, AT-URI or handle is replaced by an empty text.
 * Locales that are invalid, or have no text left, are omitted. Returns null if a text exceeds the maximum length.
 */
function definitionOf(value: string, raw: Readonly<Record<string, unknown>>): ValueDefinition | null {
  const locales: LocaleTexts[] = [];
  let withheld = false;
  for (const locale of listIn(raw.locales).slice(0, maxLocales)) {
    if (!isObject(locale)) continue;
    const { lang, name = '', description = '' } = locale;
    if (typeof lang !== 'string' || typeof name !== 'string' || typeof description !== 'string') continue;
    if (lang.length > maxLanguageTag || !languageTag.test(lang)) continue;
    if (name.length > maxText || description.length > maxText) return null;
    const texts = { name: published(name), description: published(description) };
    withheld ||= texts.name === null || texts.description === null;
    if (texts.name || texts.description) {
      locales.push({ lang, name: texts.name ?? '', description: texts.description ?? '' });
    }
  }
  return {
    value,
    severity: oneOf(raw.severity, ['inform', 'alert', 'none']),
    blurs: oneOf(raw.blurs, ['content', 'media', 'none']),
    default_setting: oneOf(raw.defaultSetting, ['ignore', 'warn', 'hide']),
    adult_only: raw.adultOnly === true,
    locales,
    ...(withheld && { withheld: 'privacy' as const }),
  };
}

/** Returns the text, or null if it contains a DID, AT-URI or handle. */
function published(text: string): string | null {
  return findIdentity(text) === null ? text : null;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function oneOf(value: unknown, vocabulary: readonly string[]): string | null {
  return vocabulary.find((one) => one === value) ?? null;
}
