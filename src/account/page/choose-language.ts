import { type Language, languages } from '../../web/language.ts';

/** The name of each language in that language. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
};

/** Name of the query parameter that selects the language of a page. */
export const languageParameter = 'lang';

/** Returns the language with this tag; null if no page is available in it. */
export function languageOf(tag: string | null | undefined): Language | null {
  return languages.find((known) => known === tag) ?? null;
}

/** Matches one member of `Accept-Language`: a language range with an optional weight. */
const member =
  /^[ \t]*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** Maximum length of a parsed header, in characters. A longer header selects the default language. */
const maxHeaderLength = 1024;

/**
 * Negotiates the language of a page (RFC 9110, section 12.5.4): selects the available language with the highest weight.
 * A range such as `pt-BR` selects `pt`, and `*` selects the default language. For equal weights, the first range
 * decides. Returns the default language if the header is absent, is too long or names no available language. Malformed
 * members are ignored.
 */
export function negotiateLanguage(header: string | undefined): Language {
  if (header === undefined || header.length > maxHeaderLength) return languages[0];
  let best: Language = languages[0];
  let bestWeight = 0;
  for (const part of header.split(',')) {
    const [, range = '', weight] = member.exec(part) ?? [];
    const language = range === '*' ? languages[0] : languageOf(range.split('-', 1)[0]?.toLowerCase());
    const ownWeight = weight === undefined ? 1 : Number(weight);
    if (language === null || ownWeight <= bestWeight) continue;
    best = language;
    bestWeight = ownWeight;
  }
  return best;
}
