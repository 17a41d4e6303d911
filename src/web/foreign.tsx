/** Most characters of a foreign text that a page shows; the whole stands in the export. */
export const maxShownCharacters = 500;

/**
 * A text that somebody else wrote (a label's value, a definition, a handle), on a page: isolated, so that its
 * direction marks end with it; without controls; cut at `max` characters, and saying so.
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

/** The text as it may be shown: controls and direction overrides replaced by U+FFFD, at most `max` code points. */
export function visible(text: string, max: number): { text: string; cut: boolean } {
  const points = [...text.slice(0, max * 2 + 2)];
  const cut = points.length > max || text.length > max * 2 + 2;
  const clean = points.slice(0, max).join('').replace(hidden, '\uFFFD').toWellFormed();
  return { text: clean, cut };
}

/** Controls but line feed and tab, and the marks that turn the direction of what follows them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for.
const hidden = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
