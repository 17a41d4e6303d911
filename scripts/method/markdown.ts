/** Markdown helpers for the method pages. */

/** Returns a Markdown table. Throws if a cell contains `|`, which would end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  if (rows.flat().some((cell) => cell.includes('|'))) throw new Error('a cell of a table contains |');
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/**
 * Returns a table that explains every item of a published list, in the order of the list. Throws if an item has no
 * explanation, or an explanation has no item.
 */
export function explained(
  head: readonly [string, string],
  items: readonly string[],
  explanations: Readonly<Record<string, string>>,
): string {
  const unknown = Object.keys(explanations).filter((item) => !items.includes(item));
  if (unknown.length > 0) throw new Error(`the table explains items that are not published: ${unknown.join(', ')}`);
  const rows = items.map((item) => {
    const explanation = explanations[item];
    if (explanation === undefined) throw new Error(`the table does not explain the published item ${item}`);
    return [item, explanation];
  });
  return table(head, rows);
}

/** Returns a count with its noun, in the plural unless the count is 1. */
export function several(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
}

/** Formats a share from 0 to 1 as a percentage. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))} %`;
}
