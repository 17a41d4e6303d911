import { isObject, type JsonObject } from '../../input/json-budget.ts';
import { type Language, languages } from '../../web/language.ts';
import type { AccountStore } from '../query/account-store.ts';

/** A labeler's definition of one of its label values, verbatim; untrusted text. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  /** Language tag of both texts, or null if the tag is invalid. */
  readonly lang: string | null;
}

/** Definitions of one value in the languages that pages may show; at least one. */
type Translations = readonly [Definition, ...Definition[]];

/** Cached definitions of one labeler by value, from the last record observed, in several languages. */
type ReadDefinitions = ReadonlyMap<string, Translations>;

/** Lifetime of cached definitions, in milliseconds; also the maximum age of a definition on a page. */
const keptMs = 60_000;
/** Maximum number of labelers with cached definitions. */
const maxKept = 300;
/** Maximum number of values read per labeler; further values are ignored. */
const maxValues = 2_000;

/** Cache of labelers' definitions. `monotonic` returns the time of a monotonic clock in milliseconds. */
export class DefinitionCache {
  readonly #monotonic: () => number;
  readonly #kept = new Map<string, { readonly until: number; readonly found: ReadDefinitions | null }>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * Returns the definitions of the values on a page by labeler and value, in the language of the page or in another language if the labeler
   * does not offer that language. Omits labelers for which no record with definitions was observed.
   */
  async of(
    store: Pick<AccountStore, 'definitions'>,
    labels: readonly { readonly src: string; readonly val: string }[],
    language: Language,
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, Definition>>> {
    const found = new Map<string, ReadonlyMap<string, Definition>>();
    for (const [labeler, wanted] of Map.groupBy(labels, ({ src }) => src)) {
      const definitions = await this.#one(store, labeler);
      if (!definitions) continue;
      const shown = [...new Set(wanted.map(({ val }) => val))].flatMap((val): [string, Definition][] => {
        const definition = definitions.get(val);
        return definition ? [[val, choose(definition, language)]] : [];
      });
      found.set(labeler, new Map(shown));
    }
    return found;
  }

  async #one(store: Pick<AccountStore, 'definitions'>, labeler: string): Promise<ReadDefinitions | null> {
    const kept = this.#kept.get(labeler);
    if (kept && kept.until > this.#monotonic()) return kept.found;
    const [newest] = await store.definitions(labeler);
    const found = newest ? parseDefinitions(newest.content) : null;
    this.#kept.delete(labeler);
    if (this.#kept.size >= maxKept) this.#kept.delete(this.#kept.keys().next().value ?? '');
    this.#kept.set(labeler, { until: this.#monotonic() + keptMs, found });
    return found;
  }
}

/**
 * Parses the definitions in a labeler's record (`app.bsky.labeler.defs#labelerPolicies`), given as JSON. The content is
 * untrusted; omits entries that do not conform to the lexicon, repeat a value, or exceed `maxValues`.
 */
export function parseDefinitions(content: string): ReadDefinitions {
  const found = new Map<string, Translations>();
  for (const entry of listIn(parse(content), 'labelValueDefinitions').slice(0, maxValues)) {
    if (typeof entry.identifier !== 'string' || found.has(entry.identifier)) continue;
    const [first, ...others] = usable(listIn(entry, 'locales'));
    if (first) found.set(entry.identifier, selected([first, ...others]));
  }
  return found;
}

function usable(locales: readonly JsonObject[]): Definition[] {
  return locales.flatMap(({ lang, name, description }) =>
    typeof name === 'string' && typeof description === 'string'
      ? [{ name, description, lang: typeof lang === 'string' && languageTag.test(lang) ? lang : null }]
      : [],
  );
}

/** Returns only the definitions that a page in any language may show, so that the cache stays small. */
function selected(definitions: Translations): Translations {
  const shown = new Set(languages.map((language) => choose(definitions, language)));
  const [first] = definitions;
  // Keep the first definition: it is shown if the labeler offers neither the language of the page nor English.
  return [first, ...definitions.filter((definition) => definition !== first && shown.has(definition))];
}

/**
 * Selects the definition in a language, otherwise in a variety of that language, otherwise in English, otherwise the
 * first definition.
 */
export function choose(definitions: Translations, language: Language): Definition {
  return inLanguage(definitions, language) ?? inLanguage(definitions, 'en') ?? definitions[0];
}

function inLanguage(definitions: Translations, language: Language): Definition | undefined {
  return (
    definitions.find(({ lang }) => lang?.toLowerCase() === language) ??
    definitions.find(({ lang }) => lang?.toLowerCase().startsWith(`${language}-`))
  );
}

/** Matches a BCP 47 language tag, which the `lang` attribute requires. */
const languageTag = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}$/;

function listIn(value: unknown, key: string): JsonObject[] {
  const list = isObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
