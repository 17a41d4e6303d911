import { visible } from '../web/foreign.tsx';

/** Maximum length of untrusted text on the terminal, in characters. */
const maxForeign = 500;
/** Minimum width of a terminal at which lines are wrapped, in characters. */
const minWidth = 40;

/**
 * Makes untrusted text safe to show on one line of a terminal: no character moves the cursor, or changes a colour or
 * the direction of the text. Text longer than `max` is truncated and marked.
 */
export function terminalText(text: string, max = maxForeign): string {
  const shown = visible(text, max);
  return `${shown.text.replaceAll(/[\s\uFFFD]+/gu, (run) => (run.includes('\uFFFD') ? '\uFFFD' : ' ')).trim()}${shown.cut ? ' … (shortened)' : ''}`;
}

/**
 * Wraps a line at spaces into rows of at most `width` characters, or of 40 if `width` is less. A longer word is split.
 * Rows after the first are indented.
 */
export function wrapped(line: string, width: number, indent = 0): string[] {
  const max = Math.max(width, minWidth);
  const rows: string[] = [];
  let rest = line;
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max);
    const cut = space > indent ? space : max;
    rows.push(rest.slice(0, cut).trimEnd());
    rest = `${' '.repeat(indent)}${rest.slice(cut).trimStart()}`;
  }
  return [...rows, rest];
}

/**
 * Formats rows of cells as lines of aligned columns. Every column except the last is padded. `right` lists the
 * right-aligned columns.
 */
export function aligned(rows: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        return right.has(at) ? cell.padStart(width) : at === row.length - 1 ? cell : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
