import { parquetWriteBuffer } from 'hyparquet-writer';
import { canonicalJson, csvCell } from '../../contract/encodings.ts';
import { hoursOf } from '../days/calendar.ts';
import { issuesFile, type KnownIssue, parseIssues } from '../days/known-issues.ts';
import { factNames, lineFileOf, parseLines } from '../days/line.ts';
import { type LabelsDay, labelsForm } from '../hours/labels-day.ts';
import { type WeatherDay, weatherForm } from '../hours/weather-day.ts';
import { packageFile } from '../tables/columns.ts';
import { dayPackage } from '../tables/dictionary.ts';
import { currentEdition } from '../tables/editions.ts';
import { firstEdition } from '../tables/first-edition.ts';
import type { Cell, CellKind, Column, DayHours, Edition, FilledTable, Row, Table } from '../tables/table.ts';
import { type DayLines, gapManifest, gapsFile } from './gaps.ts';

/** Names of a day's input files, from which its other files are computed. */
export const inputFiles: readonly string[] = [
  ...factNames.map(lineFileOf),
  issuesFile,
  weatherForm.name,
  labelsForm.name,
];
/** Names of a day's computed files. */
export const computedFiles: readonly string[] = [gapsFile, ...currentEdition.files];
/** Names of the computed files of a day that was closed before the current edition of the tables. */
export const firstComputedFiles: readonly string[] = [gapsFile, ...firstEdition.files];

/** Parsed files of one day. */
export interface DayInputs {
  readonly lines: DayLines;
  readonly issues: readonly KnownIssue[];
  readonly hours: DayHours;
}

/** Result of parsing a day's input files. `inputs` is null if any file is damaged; `damaged` names these files. */
interface ParsedInputs {
  readonly inputs: DayInputs | null;
  readonly damaged: readonly string[];
}

/** Parses the input files of a day. A missing file counts as an empty one. */
export function parseInputs(
  day: string,
  bytesOf: (name: string) => Buffer | null,
  memo: Memo = new Memo(),
): ParsedInputs {
  const damaged: string[] = [];
  const parsed = <T>(name: string, parse: (bytes: Buffer) => T | null, absent: T): T => {
    const bytes = bytesOf(name);
    const value = bytes === null ? absent : memo.parsed(`${day}/${name}`, bytes, parse);
    if (value === null) damaged.push(name);
    return value ?? absent;
  };
  const linesOf = (fact: (typeof factNames)[number]) =>
    parsed(lineFileOf(fact), (bytes) => parseLines(bytes.toString('utf8'), fact, day), []);
  const inputs = {
    lines: {
      instruments: linesOf('instruments'),
      'labels-overview': linesOf('labels-overview'),
      'weather-conditions': linesOf('weather-conditions'),
      'weather-metrics': linesOf('weather-metrics'),
    },
    issues: parsed(issuesFile, parseIssues, []),
    hours: {
      weather: parsed(weatherForm.name, (bytes) => weatherForm.parse(bytes, day), weatherForm.unknown(day)),
      labels: parsed(labelsForm.name, (bytes) => labelsForm.parse(bytes, day), labelsForm.unknown(day)),
    },
  };
  return { inputs: damaged.length === 0 ? inputs : null, damaged };
}

/** A computed file, with the values from which its bytes were formatted. */
export interface ComputedFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly value: object;
}

/** Options for computing the files of a day. */
interface Computing {
  /** Cache of the results of earlier calls, all of which had the same edition. */
  readonly memo?: Memo;
  /** Edition of the tables; by default the current one. */
  readonly edition?: Edition;
}

/**
 * Computes the files of a day from the archived inputs of the day and of the two following days. Returns an empty
 * list if there are no inputs. Hours up to `until` (milliseconds since 1970) are covered. The bytes depend only on
 * the arguments.
 */
export function computeFiles(
  day: string,
  days: readonly DayInputs[],
  until: number,
  { memo = new Memo(), edition = currentEdition }: Computing = {},
): ComputedFile[] {
  const [own] = days;
  if (!own) return [];
  const lines = days.map((one) => one.lines);
  const manifest = gapManifest({ day, days: lines, until, issues: own.issues, hours: own.hours });
  const gaps = { name: gapsFile, bytes: Buffer.from(`${canonicalJson(manifest)}\n`), value: manifest };
  const tables = memo.tables(own.hours, hoursOf(day, until).length, () =>
    edition.fill(own.hours, until).flatMap((one) => formattedTable(edition, one)),
  );
  if (edition !== currentEdition) return [gaps, ...tables];
  const described = dayPackage(day);
  const description = { name: packageFile, bytes: Buffer.from(`${canonicalJson(described)}\n`), value: described };
  return [gaps, description, ...tables];
}

function formattedTable(edition: Edition, { table, rows }: FilledTable): ComputedFile[] {
  const named = rows.map((row) => Object.fromEntries(table.columns.map(({ name }, place) => [name, row[place]])));
  return [
    { name: `${table.name}.csv`, bytes: csvBytes(edition, table, rows), value: { rows: named } },
    { name: `${table.name}.parquet`, bytes: parquetBytes(edition, table, rows), value: { rows: named } },
  ];
}

const types = {
  hour: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  instant: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  day: { type: 'INT32', converted_type: 'DATE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  count: { type: 'INT64' },
  seconds: { type: 'DOUBLE' },
  rate: { type: 'DOUBLE' },
  flag: { type: 'BOOLEAN' },
} as const satisfies Readonly<Record<CellKind, object>>;

/** Maximum number of rows in a row group. The table of one day fits into one group. */
const rowGroupSize = 100_000;

/**
 * Formats a table as Parquet. The bytes depend only on the table and its rows, so that a rebuild of the day reproduces
 * them.
 */
export function parquetBytes({ schema }: Edition, { name, columns }: Table, rows: readonly Row[]): Buffer {
  const bytes = parquetWriteBuffer({
    columnData: columns.map((column, place) => ({
      name: column.name,
      data: rows.map((row) => parquetValue(column, row[place] ?? null)),
    })),
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map((column) => ({
        name: column.name,
        ...types[column.kind],
        repetition_type: column.isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
    rowGroupSize,
    codec: 'SNAPPY',
    createdBy: 'almanac',
    kvMetadata: [
      { key: 'schema', value: schema },
      { key: 'table', value: name },
      { key: 'licence', value: 'CC0-1.0' },
    ],
  });
  return Buffer.from(bytes);
}

function parquetValue({ kind }: Column, cell: Cell): bigint | Date | Cell {
  if (cell === null) return null;
  if (kind === 'count') return BigInt(cell);
  return kind === 'hour' || kind === 'day' || kind === 'instant' ? new Date(String(cell)) : cell;
}

/**
 * Formats a table as CSV (RFC 4180) in UTF-8. A null becomes an empty cell. A text that a spreadsheet would run as a
 * formula is escaped.
 */
export function csvBytes({ lineEnd }: Edition, { columns }: Table, rows: readonly Row[]): Buffer {
  const records = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => String(cell ?? '')))];
  return Buffer.from(records.map((record) => `${record.map(csvCell).join(',')}${lineEnd}`).join(''));
}

/** Caches parsed files and computed tables, because most files of open days do not change within an hour. */
export class Memo {
  readonly #parsed = new Map<string, { readonly bytes: Buffer; readonly value: unknown }>();
  readonly #tables = new Map<string, TablesOf<unknown>>();

  /** Returns the parsed value of a file; the same object until the bytes change. */
  parsed<T>(path: string, bytes: Buffer, parse: (bytes: Buffer) => T): T {
    const known = this.#parsed.get(path);
    if (known?.bytes.equals(bytes) === true) return known.value as T;
    const value = parse(bytes);
    this.#parsed.set(path, { bytes, value });
    return value;
  }

  /** Returns the tables of a day, and computes them only if their input has changed. */
  tables<T>({ weather, labels }: DayHours, hours: number, compute: () => T): T {
    const known = this.#tables.get(weather.day);
    if (known?.weather === weather && known.labels === labels && known.hours === hours) return known.value as T;
    const value = compute();
    this.#tables.set(weather.day, { weather, labels, hours, value });
    return value;
  }

  /** Discards the results of all days before the given day. */
  forgetBefore(day: string): void {
    for (const path of this.#parsed.keys()) if (path < day) this.#parsed.delete(path);
    for (const known of this.#tables.keys()) if (known < day) this.#tables.delete(known);
  }
}

interface TablesOf<T> {
  readonly weather: WeatherDay;
  readonly labels: LabelsDay;
  /** Number of hours of the day that are over. */
  readonly hours: number;
  readonly value: T;
}
