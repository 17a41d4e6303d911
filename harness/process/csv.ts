import { csvColumns } from '../../src/export/format.ts';

/**
 * Parses the records of an RFC 4180 file with a simple, slow parser. Throws if a record is not terminated correctly.
 */
export function parseCsv(text: string, lineEnd: '\n' | '\r\n' = '\r\n'): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        if (at >= text.length) throw new Error('a quoted cell is not terminated');
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      for (; at < text.length && text[at] !== ',' && text[at] !== lineEnd[0]; at += 1) cell += text[at];
    }
    record.push(cell);
    if (text[at] === ',') at += 1;
    else if (text.startsWith(lineEnd, at)) {
      at += lineEnd.length;
      records.push(record);
      record = [];
    } else throw new Error(`a record ends incorrectly at ${at}`);
  }
  if (record.length > 0) throw new Error('the last record is not terminated');
  return records;
}

/**
 * Converts a record to a row. An empty cell of an optional field means that the field is absent. One apostrophe is
 * removed at each position that a spreadsheet may treat as the start of a cell.
 */
export function rowOfCells(cells: readonly string[]): Record<string, string> {
  const members = csvColumns.map(
    (name, index) => [name, (cells[index] ?? '').replace(/(?<=^|[;\t\r\n])'/g, '')] as const,
  );
  return Object.fromEntries(members.filter(([name, text]) => text !== '' || !['cid', 'expires_at'].includes(name)));
}
