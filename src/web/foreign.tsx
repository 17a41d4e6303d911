/** Maximum length of an untrusted string on a page, in characters. The export contains the full text. */
export const maxShownCharacters = 500;

/**
 * Shows untrusted text (a label value, a definition, a handle) without control and invisible characters (see
 * `visible`), and isolates it from the direction of the surrounding text. Text truncated at `max` characters is marked
 * with the word in `shortened`.
 */
export function Foreign({
  text,
  max = maxShownCharacters,
  shortened = '(shortened)',
}: {
  text: string;
  max?: number;
  shortened?: string;
}) {
  const shown = visible(text, max);
  return (
    <bdi>
      {shown.text}
      {shown.cut ? <span class="cut"> … {shortened}</span> : null}
    </bdi>
  );
}

/**
 * Returns the visible form of a string: at most `max` code points, with control characters, line separators, lone
 * surrogates and invisible characters such as direction marks and zero-width spaces replaced with U+FFFD. Keeps
 * invisible characters that change the shape of their neighbours: in emoji sequences, and in words of scripts that need
 * joiners. `cut` is true if the string was longer.
 */
export function visible(text: string, max: number): { text: string; cut: boolean } {
  // Fast path for short strings: a string never has more code points than code units.
  if (text.length <= max) return { text: marked(text).toWellFormed(), cut: false };
  const points = [...text.slice(0, max * 2 + 2)];
  const cut = points.length > max || text.length > max * 2 + 2;
  const kept = points.slice(0, max).join('');
  // Remove a joiner before the cut, because the character that it joins is cut off.
  return { text: marked(cut ? kept.replace(/[\u200C\u200D]$/, '') : kept).toWellFormed(), cut };
}

/** Returns true if a string can be shown unchanged: `visible` would replace none of its characters. */
export function isPlain(text: string): boolean {
  return marked(text) === text && text.isWellFormed();
}

/** Replaces hidden characters with U+FFFD, except in ordinary sequences. */
function marked(text: string): string {
  if (ascii.test(text) || !hidden.test(text)) return text;
  return text.replace(ordinaryOrHidden, (_, ordinary: string | undefined) => ordinary ?? '\uFFFD');
}

/**
 * Matches control characters other than line feed and tab, line separators, and characters that are never visible:
 * direction marks, zero-width characters, variation selectors, fillers, tags and other format characters. Format
 * characters that Unicode does not classify as ignorable are listed one by one, except the Arabic number signs, which
 * are visible.
 */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\uFFF9-\uFFFB\u{13430}-\u{1343F}\p{Default_Ignorable_Code_Point}]/v;

/** Matches a string of visible ASCII characters, spaces, tabs and line feeds. Most strings match. */
const ascii = /^[\t\n -~]*$/;

/** One emoji, with a variation selector or a skin tone if it has one. */
const emoji = String.raw`\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?`;
/** The flags of England, Scotland and Wales, the only emoji with tags: `gbeng`, `gbsct` and `gbwls` in tag characters. */
const taggedFlags = ['gbeng', 'gbsct', 'gbwls']
  .map((region) => [...region].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join(''))
  .map((tags) => `\u{1F3F4}${tags}\u{E007F}`);
/** Letters and marks of scripts in which a joiner changes the shape of its neighbours. */
const joinedLetter = `[[\\p{L}\\p{M}]&&[${['Arab', 'Syrc', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr'].map((script) => `\\p{scx=${script}}`).join('')}]]`;
/** Signs that suppress a vowel. A joiner after them also changes the shape of the last letter of a word. */
const viramas = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA]`;

/** Matches an ordinary sequence, in its group, or one hidden character. */
const ordinaryOrHidden = new RegExp(
  `(${[
    ...taggedFlags,
    String.raw`${emoji}(?:\u200D${emoji})*`,
    // A digit on a key, such as 1️⃣.
    String.raw`[0-9#*]\uFE0F\u20E3`,
    String.raw`(?<=${joinedLetter})[\u200C\u200D](?=${joinedLetter})`,
    String.raw`(?<=${viramas})\u200D`,
    // Selectors of the variants of Mongolian letters, and the separator of Mongolian vowels.
    String.raw`(?<=\p{Script=Mongolian})[\u180B-\u180F]`,
  ].join('|')})|${hidden.source}`,
  'gv',
);

/**
 * Replaces raw control characters and lone surrogates in a rendered page with U+FFFD. These characters have no meaning
 * in HTML, and some programs misinterpret them.
 */
export function withoutControls(html: string): string {
  const clean = controls.test(html) ? html.replace(allControls, '\uFFFD') : html;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
const allControls = new RegExp(controls, 'g');
