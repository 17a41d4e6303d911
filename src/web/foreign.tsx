/** Maximum length of an untrusted text on a page, in characters. The export contains the full text. */
export const maxShownCharacters = 500;

/**
 * Shows an untrusted text (a label value, a definition, a handle) without control characters, and isolates it from the
 * direction of the surrounding text. A text truncated at `max` characters is marked with the word in `shortened`.
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
    <bdi class="foreign">
      {shown.text}
      {shown.cut ? <span class="cut"> … {shortened}</span> : null}
    </bdi>
  );
}

/**
 * Returns the visible form of a text: at most `max` code points, with control characters and direction overrides
 * replaced by U+FFFD.
 */
export function visible(text: string, max: number): { text: string; cut: boolean } {
  // Fast path for short texts: a text never has more code points than code units.
  if (text.length <= max) return { text: text.replace(hidden, '\uFFFD').toWellFormed(), cut: false };
  const points = [...text.slice(0, max * 2 + 2)];
  const cut = points.length > max || text.length > max * 2 + 2;
  const clean = points.slice(0, max).join('').replace(hidden, '\uFFFD').toWellFormed();
  return { text: clean, cut };
}

/** Returns true if a text can be shown unchanged: no character is invisible or changes the text direction. */
export function isPlain(text: string): boolean {
  hidden.lastIndex = 0;
  return !hidden.test(text) && text.isWellFormed();
}

/** Matches control characters other than line feed and tab, direction marks, and line separators. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u206F\uFFF9-\uFFFB\u{E0001}]/gu;

/**
 * Removes raw control characters and lone surrogates from a rendered page. They have no meaning in HTML, and some
 * programs misinterpret them.
 */
export function withoutControls(html: string): string {
  const clean = controls.test(html) ? html.replace(allControls, '\uFFFD') : html;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
const allControls = new RegExp(controls, 'g');
