import { findIdentity } from '../../../contract/privacy/find-identity.ts';
import { isPublishableValue, isValueSyntax } from '../../../contract/privacy/published-value.ts';
import { isObject } from '../../../input/json-object.ts';

/** Maximum number of declared values that are considered in one revision. */
export const maxDeclaredValues = 200;
/** Maximum number of locales that are considered for one value. */
const maxLocales = 100;
/** Maximum number of characters of a text. A value with a longer text is omitted. */
const maxText = 16 * 1024;
/** Maximum number of characters of a language tag, as in the schema of the artifact. */
const maxLanguageTag = 64;
const languageTag = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,7}$/;

/** Texts of one value in one language. */
export interface LocaleTexts {
  readonly lang: string;
  readonly name: string;
  readonly description: string;
}

/** Definition of one value, as the artifact publishes it. */
export interface ValueDefinition {
  readonly value: string;
  readonly severity: string | null;
  readonly blurs: string | null;
  readonly default_setting: string | null;
  readonly adult_only: boolean;
  readonly locales: readonly LocaleTexts[];
  readonly withheld?: 'privacy';
}

/** Content of one revision of a labeler's definitions. */
export interface Declared {
  /** Values that may be published by name, in the order of the record. */
  readonly values: readonly string[];
  /** All declared names, of any syntax. */
  readonly names: ReadonlySet<string>;
  /** Raw definitions of the publishable values, by value. */
  readonly definitions: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

const nothing: Declared = { values: [], names: new Set(), definitions: new Map() };

/** Parses one stored revision. Content of an unexpected shape declares no value. */
export function declaredIn(content: string): Declared {
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
export function textLength(raw: Readonly<Record<string, unknown>>): number {
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
export function definitionOf(value: string, raw: Readonly<Record<string, unknown>>): ValueDefinition | null {
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
