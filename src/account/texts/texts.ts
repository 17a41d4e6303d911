import type { Language } from '../../web/language.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';
import { es } from './es.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';

const catalogues: Readonly<Record<Language, Texts>> = { en, de, es, pt, ja };

/** Returns the texts of the account pages in a language. */
export function textsOf(language: Language): Texts {
  return catalogues[language];
}
