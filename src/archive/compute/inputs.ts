import { canonicalJson } from '../../contract/encodings.ts';
import { hoursOf } from '../days/calendar.ts';
import { issuesFile, type KnownIssue, parseIssues } from '../days/known-issues.ts';
import { factNames, lineFileOf, parseLines } from '../days/line.ts';
import type { DayHours } from '../hours/day-hours.ts';
import { labelsForm } from '../hours/labels-day.ts';
import { weatherForm } from '../hours/weather-day.ts';
import { current, first, type WrittenEdition } from '../tables/editions.ts';
import { dayPackage, packageFile } from '../tables/package.ts';
import type { Edition, FilledTable } from '../tables/table.ts';
import { csvBytes, parquetBytes } from '../tables/write-table.ts';
import { type DayLines, gapManifest, gapsFile } from './gaps.ts';
import { Memo } from './memo.ts';

/** Names of a day's input files, from which its other files are computed. */
export const inputFiles: readonly string[] = [
  ...factNames.map(lineFileOf),
  issuesFile,
  weatherForm.name,
  labelsForm.name,
];
/** Names of a day's computed files. */
export const computedFiles: readonly string[] = [gapsFile, packageFile, ...current.files];
/** Names of the computed files of a day that was closed before the current edition of the tables. */
export const firstComputedFiles: readonly string[] = [gapsFile, ...first.files];

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
  readonly edition?: WrittenEdition;
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
  { memo = new Memo(), edition = current }: Computing = {},
): ComputedFile[] {
  const [own] = days;
  if (!own) return [];
  const lines = days.map((one) => one.lines);
  const manifest = gapManifest({ day, days: lines, until, issues: own.issues, hours: own.hours });
  const gaps = { name: gapsFile, bytes: Buffer.from(`${canonicalJson(manifest)}\n`), value: manifest };
  const tables = memo.tables(own.hours, hoursOf(day, until).length, () =>
    edition.fill(own.hours, until).flatMap((one) => formattedTable(edition, one)),
  );
  if (edition !== current) return [gaps, ...tables];
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
