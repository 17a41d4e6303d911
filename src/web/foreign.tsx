/** Maximum characters of a foreign text on a page; the export contains the whole text. */
export const maxShownCharacters = 500;

/**
 * Shows a foreign text (a label's value, a definition, a handle): isolated, so that its direction marks end with it;
 * without control characters; truncated at `max` characters, with a sign of that.
 */
export function Foreign({ text, max = maxShownCharacters }: { text: string; max?: number }) {
  const shown = visible(text, max);
  return (
    <bdi class="foreign">
      {shown.text}
      {shown.cut ? <span class="cut"> … (shortened)</span> : null}
    </bdi>
  );
}

/**
 * Returns the visible form of a text: controls and direction overrides replaced by U+FFFD, at most `max` code points.
 */
export function visible(text: string, max: number): { text: string; cut: boolean } {
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

/**
 * Controls except line feed and tab, marks that change the direction of the following text, and separators that break
 * lines.
 */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for.
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u206F\uFFF9-\uFFFB\u{E0001}]/gu;

/**
 * Removes raw controls and lone surrogates from a page, whatever their source: none has a meaning in HTML, and some
 * programs confuse a few of them with others. The last step before a page is sent.
 */
export function withoutControls(html: string): string {
  const clean = controls.test(html) ? html.replace(allControls, '\uFFFD') : html;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for.
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
const allControls = new RegExp(controls, 'g');
