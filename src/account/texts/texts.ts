import { type Formats, formatsOf } from '../../web/language/formats.ts';
import type { Language } from '../../web/language/language.ts';
import { entryDe } from './entry/de.ts';
import { type EntryTexts, entryEn } from './entry/en.ts';
import { entryEs } from './entry/es.ts';
import { entryJa } from './entry/ja.ts';
import { entryPt } from './entry/pt.ts';
import { viewDe } from './view/de.ts';
import { type ViewTexts, viewEn } from './view/en.ts';
import { viewEs } from './view/es.ts';
import { viewJa } from './view/ja.ts';
import { viewPt } from './view/pt.ts';

/** All texts of the account pages in one language, and its formats. */
export interface Texts extends ViewTexts, EntryTexts {
  readonly language: Language;
  readonly formats: Formats;
  /** Note that the translation is machine-made, or null once a native speaker has reviewed it. */
  readonly translationNote: string | null;
}

/**
 * Notes on machine-made translations. Replace the note of a language by null after a native speaker has reviewed its
 * catalogues.
 */
const translationNotes: Readonly<Record<Exclude<Language, 'en'>, string | null>> = {
  de: 'Maschinell übersetzt und noch nicht von Muttersprachlern geprüft; im Zweifel gilt die englische Seite. Texte der Labeler werden nicht übersetzt.',
  es: 'Traducción automática, aún no revisada por hablantes nativos; en caso de duda vale la página en inglés. Las palabras de los etiquetadores no se traducen.',
  pt: 'Tradução automática, ainda não revisada por falantes nativos; em caso de dúvida, vale a página em inglês. As palavras dos rotuladores não são traduzidas.',
  ja: '機械翻訳であり、母語話者による確認はまだ行われていません。疑問がある場合は英語のページを参照してください。ラベラーの言葉は翻訳されません。',
};

const catalogues: Readonly<Record<Language, Texts>> = {
  en: { language: 'en', formats: formatsOf('en'), translationNote: null, ...entryEn, ...viewEn },
  de: { language: 'de', formats: formatsOf('de'), translationNote: translationNotes.de, ...entryDe, ...viewDe },
  es: { language: 'es', formats: formatsOf('es'), translationNote: translationNotes.es, ...entryEs, ...viewEs },
  pt: { language: 'pt', formats: formatsOf('pt'), translationNote: translationNotes.pt, ...entryPt, ...viewPt },
  ja: { language: 'ja', formats: formatsOf('ja'), translationNote: translationNotes.ja, ...entryJa, ...viewJa },
};

/** Returns the texts in a language. */
export function textsOf(language: Language): Texts {
  return catalogues[language];
}
