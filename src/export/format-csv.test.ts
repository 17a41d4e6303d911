import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCsv, rowOfCells } from '../../harness/process/csv.ts';
import type { AccountRow } from '../contract/account.ts';
import { csvColumns, csvHead, csvRecord } from './format.ts';

const row: AccountRow = {
  labeler_did: 'did:plc:ar7c4by46qjdydhdevvrndac',
  uri: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  value: 'spam',
  action: 'application_observed',
  source_timestamp: '2026-11-19T08:12:44.031Z',
  observed_at: '2026-11-19T08:12:45.220417Z',
  signature: 'verified',
};

describe('a CSV file of rows', () => {
  it('starts with the column names and leaves the cells of absent fields empty', () => {
    expect(csvHead + csvRecord(row)).toBe(
      'observed_at,labeler_did,action,value,uri,cid,source_timestamp,expires_at,signature\r\n' +
        '2026-11-19T08:12:45.220417Z,did:plc:ar7c4by46qjdydhdevvrndac,application_observed,spam,did:plc:ewvi7nxzyoun6zhxrhs64oiz,,2026-11-19T08:12:44.031Z,,verified\r\n',
    );
  });

  it.each([
    ['=HYPERLINK("http://evil.example")', `"'=HYPERLINK(""http://evil.example"")"`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['\r=1', `"'\r'=1"`],
    ['x;=1+1', "x;'=1+1"],
    ['x\t@SUM(A1)', "x\t'@SUM(A1)"],
    ['x\r\n-1', `"x\r'\n'-1"`],
    ['x;"=1', `"x;'""=1"`],
    ["x;'quoted", "x;''quoted"],
    ['x;y', 'x;y'],
    ['＝1', "'＝1"],
    ["'quoted", "''quoted"],
    ['!hide', '!hide'],
    ['a,b', '"a,b"'],
    ['two\nlines', '"two\nlines"'],
  ])('contains the value %j as the cell %j', (value, cell) => {
    expect(csvRecord({ ...row, value })).toBe(csvRecord(row).replace(',spam,', () => `,${cell},`));
  });

  it('preserves every row and contains no cell that begins like a formula, for any labeler text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('=', "'", '"', ',', ';', '\r', '\n', '+', '\t', 'a') }),
    );
    const rows = fc.array(
      fc.record(
        {
          ...row,
          value: text,
          source_timestamp: text,
          cid: fc.string({ minLength: 1 }),
          expires_at: fc.string({ minLength: 1 }),
          labeler_did: fc.constant(row.labeler_did),
          uri: fc.constant(row.uri),
          action: fc.constant(row.action),
          observed_at: fc.constant(row.observed_at),
          signature: fc.constant(row.signature),
        },
        { requiredKeys: ['value', 'source_timestamp', 'labeler_did', 'uri', 'action', 'observed_at', 'signature'] },
      ),
    );
    fc.assert(
      fc.property(rows, (given) => {
        const [head, ...records] = parseCsv(csvHead + given.map(csvRecord).join(''));
        expect(head).toEqual([...csvColumns]);
        expect(records.map(rowOfCells)).toEqual(given);
        expect(records.flat().filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
      }),
    );
  });

  it('contains no cell that begins like a formula when it is read with semicolons or tabs as separators', () => {
    const text = fc.string({ unit: fc.constantFrom('=', '"', ',', ';', '\r', '\n', '+', '\t', '@', 'a') });
    fc.assert(
      fc.property(text, (value) => {
        const record = csvRecord({ ...row, value });
        // A program that expects another separator treats quotes within a cell as text but removes them at the start of
        // a cell.
        const cells = record.split(/[;\t\r\n]/).map((cell) => cell.replace(/^"+/, ''));
        expect(cells.filter((cell) => /^[=+\-@]/.test(cell))).toEqual([]);
      }),
    );
  });
});
