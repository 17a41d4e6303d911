import type { StatusLine } from './status.ts';

/** Shows the state of an observatory. */
export interface Display {
  show(lines: readonly StatusLine[]): void;
}

/** The subset of a terminal stream that the screen uses. */
interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

const csi = '\u001b[';

/**
 * Creates a display of one screen in a terminal. A single write redraws the screen in place, which avoids flicker. Rows
 * are wrapped at the terminal's width, because a row that the terminal itself wraps would shift the next redraw.
 */
export function screenDisplay(terminal: Terminal, head: readonly string[]): Display {
  let drawn = 0;
  return {
    show(lines) {
      const width = terminal.columns ?? 80;
      const rows = [...head, ...lines.map(({ name, text }) => `${name.padEnd(9)}${text}`)].flatMap((row) =>
        wrapped(row, width - 1),
      );
      const up = drawn > 0 ? `${csi}${drawn}A` : '';
      terminal.write(`${up}\r${rows.map((row) => `${row}${csi}K\n`).join('')}${csi}J`);
      drawn = rows.length;
    },
  };
}

/** Creates a display of plain lines. A line is printed only when its `news` changes. */
export function plainDisplay(print: (line: string) => void): Display {
  const printedNews = new Map<string, string>();
  return {
    show(lines) {
      for (const { name, text, news } of lines) {
        if (printedNews.get(name) === news) continue;
        printedNews.set(name, news);
        print(`${name}: ${text}`);
      }
      for (const name of printedNews.keys()) if (!lines.some((line) => line.name === name)) printedNews.delete(name);
    },
  };
}

/** Returns true if a stream is a terminal and no environment variable requests plain output. */
export function showsScreen(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb' && !env.CI;
}

/** Splits a row into rows of at most the given width. */
function wrapped(row: string, width: number): string[] {
  const indent = ' '.repeat(9);
  const rows: string[] = [];
  let rest = row;
  while (rest.length > width && width > 2 * indent.length) {
    const space = rest.lastIndexOf(' ', width);
    const cut = space > indent.length ? space : width;
    rows.push(rest.slice(0, cut));
    rest = `${indent}${rest.slice(cut).trimStart()}`;
  }
  return [...rows, rest.slice(0, Math.max(1, width))];
}
