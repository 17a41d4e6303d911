import type { LabelsDay } from '../hours/labels-day.ts';
import type { WeatherDay } from '../hours/weather-day.ts';

/**
 * Kind of a column's cells. Days, hours and instants are text in CSV; in Parquet, days are dates, and hours and
 * instants are timestamps.
 */
export type CellKind = 'hour' | 'day' | 'instant' | 'text' | 'count' | 'seconds' | 'rate' | 'flag';
/** A cell; null means not observed or not known, never 0. */
export type Cell = string | number | boolean | null;
/** A row of a table, with one cell for each column. */
export type Row = readonly Cell[];

/** A column with its entry in the data dictionary. */
export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  readonly isNullable: boolean;
  readonly unit: string | null;
  /** Clock that determines the row to which an event belongs; null for a column that does not depend on a clock. */
  readonly clock: string | null;
  readonly description: string;
  /** Possible values of a text column; null if any text is possible. */
  readonly values: readonly string[] | null;
}

/** A daily table. */
export interface Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /**
   * Names of the columns that identify a row. In a table of gaps, two rows may have the same values, because times are
   * in whole seconds.
   */
  readonly key: readonly string[];
  /** Name of the table that states what this table lacks; null if there is none. */
  readonly gaps: string | null;
  /** Table that has a row for each row of this table, and the columns by which it is found; null if there is none. */
  readonly parent: { readonly table: string; readonly columns: readonly string[] } | null;
}

/** A table with its rows. */
export interface FilledTable {
  readonly table: Table;
  readonly rows: readonly Row[];
}

/** Hourly weather and labels of one day, from which its tables are computed. */
export interface DayHours {
  readonly weather: WeatherDay;
  readonly labels: LabelsDay;
}

/** A set of tables that are written together. The bytes of the files of an edition never change. */
export interface Edition {
  /** Schema of the tables, which their Parquet files name. */
  readonly schema: string;
  readonly tables: readonly Table[];
  /** Line end of the CSV files. */
  readonly lineEnd: '\n' | '\r\n';
  /** Names of the files of the edition. */
  readonly files: readonly string[];
  /** Computes the tables with the hours that are over at `until` (milliseconds since 1970). */
  readonly fill: (hours: DayHours, until: number) => FilledTable[];
}

/** Clock of the weather. */
export const streamClock = "stream: the times in the host's stream";
/** Clock of the labels. */
export const acceptanceClock = 'acceptance: the clock of the label instrument when it accepted a label';
/** File formats of each table; the name of the format is the file extension. */
export const tableFormats = ['csv', 'parquet'] as const;

/** Returns a column that is never empty, with the unit of its kind, except for the given properties. */
export function column(name: string, kind: CellKind, description: string, more: Partial<Column> = {}): Column {
  const unit = kind === 'seconds' ? 'seconds' : kind === 'count' ? 'events' : null;
  return { name, kind, isNullable: false, unit, clock: null, values: null, description, ...more };
}

/** Returns the names of the files of tables. */
export function filesOf(tables: readonly Table[]): string[] {
  return tables.flatMap(({ name }) => tableFormats.map((format) => `${name}.${format}`));
}

/** Returns the sum of the known values; null if all are unknown. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

/** Returns a sum rounded to microseconds: adding decimal fractions produces digits that no fact states. */
export function secondsOf(values: readonly number[]): number {
  return Math.round((sumOf(values) ?? 0) * 1e6) / 1e6;
}
