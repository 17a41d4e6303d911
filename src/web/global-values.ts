import type { Language } from './language.ts';

/**
 * Global label values, which labelers need not define (atproto.com/guides/labels), and the values `!takedown` and
 * `!suspend`, which the reference implementation of a moderation service issues.
 */
export const globalValues = [
  '!hide',
  '!warn',
  '!no-unauthenticated',
  '!takedown',
  '!suspend',
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
] as const;

/** A global label value. */
export type GlobalValue = (typeof globalValues)[number];

/** Meanings of the global label values in each language. */
export const globalMeanings: Readonly<Record<Language, Readonly<Record<GlobalValue, string>>>> = {
  en: {
    '!hide': 'Applications hide the subject behind a warning that cannot be opened.',
    '!warn': 'Applications show a warning before the subject.',
    '!no-unauthenticated': 'Applications show the subject only to people who are signed in.',
    '!takedown': 'Services that apply the labels of this labeler do not show the subject.',
    '!suspend': 'Services that apply the labels of this labeler do not show the account for a limited time.',
    porn: 'Pornographic content.',
    sexual: 'Sexually suggestive content, less explicit than pornography.',
    nudity: 'Nudity that is not sexual.',
    'graphic-media': 'Depictions of violence or gore.',
  },
  de: {
    '!hide': 'Anwendungen verbergen den Inhalt hinter einer Warnung, die sich nicht öffnen lässt.',
    '!warn': 'Anwendungen zeigen vor dem Inhalt eine Warnung.',
    '!no-unauthenticated': 'Anwendungen zeigen den Inhalt nur angemeldeten Personen.',
    '!takedown': 'Dienste, die die Labels dieses Labelers anwenden, zeigen den Inhalt nicht.',
    '!suspend': 'Dienste, die die Labels dieses Labelers anwenden, zeigen das Konto vorübergehend nicht.',
    porn: 'Pornografische Inhalte.',
    sexual: 'Sexuell anzügliche Inhalte, weniger explizit als Pornografie.',
    nudity: 'Nacktheit ohne sexuellen Bezug.',
    'graphic-media': 'Darstellungen von Gewalt oder Verletzungen.',
  },
  es: {
    '!hide': 'Las aplicaciones ocultan el contenido tras una advertencia que no se puede abrir.',
    '!warn': 'Las aplicaciones muestran una advertencia antes del contenido.',
    '!no-unauthenticated': 'Las aplicaciones muestran el contenido solo a personas que han iniciado sesión.',
    '!takedown': 'Los servicios que aplican las etiquetas de este etiquetador no muestran el contenido.',
    '!suspend': 'Los servicios que aplican las etiquetas de este etiquetador no muestran la cuenta temporalmente.',
    porn: 'Contenido pornográfico.',
    sexual: 'Contenido sexualmente sugerente, menos explícito que la pornografía.',
    nudity: 'Desnudez no sexual.',
    'graphic-media': 'Representaciones de violencia o sangre.',
  },
  pt: {
    '!hide': 'Os aplicativos ocultam o objeto atrás de um aviso que não pode ser aberto.',
    '!warn': 'Os aplicativos mostram um aviso antes do objeto.',
    '!no-unauthenticated': 'Os aplicativos mostram o objeto somente a pessoas com sessão iniciada.',
    '!takedown': 'Os serviços que aplicam os rótulos deste rotulador não mostram o objeto.',
    '!suspend': 'Os serviços que aplicam os rótulos deste rotulador não mostram a conta temporariamente.',
    porn: 'Conteúdo pornográfico.',
    sexual: 'Conteúdo sexualmente sugestivo, menos explícito do que pornografia.',
    nudity: 'Nudez não sexual.',
    'graphic-media': 'Representações de violência ou sangue.',
  },
  ja: {
    '!hide': 'アプリは対象を、開くことのできない警告の後ろに隠します。',
    '!warn': 'アプリは対象の前に警告を表示します。',
    '!no-unauthenticated': 'アプリはログインしている人にだけ対象を表示します。',
    '!takedown': 'このラベラーのラベルを適用するサービスは、対象を表示しません。',
    '!suspend': 'このラベラーのラベルを適用するサービスは、アカウントを一時的に表示しません。',
    porn: 'ポルノ。',
    sexual: 'ポルノほど露骨ではない、性的な内容。',
    nudity: '性的ではないヌード。',
    'graphic-media': '暴力や流血の描写。',
  },
};

/** Returns the meaning of a global label value in a language; null for any other value. */
export function globalMeaning(value: string, language: Language): string | null {
  const known = globalValues.find((global) => global === value);
  return known === undefined ? null : globalMeanings[language][known];
}
