/**
 * Parses CSV (RFC 4180) with a minimal parser, to check the archive's CSV files independently. Ignores a last row
 * without a line end.
 */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted] = [[] as string[], '', false];
  for (let at = 0; at < text.length; at++) {
    const one = text.charAt(at);
    if (isQuoted && one === '"' && text.charAt(at + 1) === '"') {
      cell += '"';
      at += 1;
    } else if (one === '"') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && one === ',') {
      row.push(cell);
      cell = '';
    } else if (!isQuoted && one === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
    } else {
      cell += one;
    }
  }
  return rows;
}
