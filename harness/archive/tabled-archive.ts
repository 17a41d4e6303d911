import { parquetReadObjects } from 'hyparquet';
import { dayMs, hourMs, hoursOf } from '../../src/archive/days/calendar.ts';
import { type DayRecord, parseDay } from '../../src/archive/days/records.ts';
import { findIdentityIn } from '../../src/main/archived-identity.ts';
import { parseCsv } from '../process/csv.ts';
import { type SimulatedArchive, type SimulationOptions, simulateArchive, simulatedStart } from './simulated-archive.ts';

/**
 * Returns the time that is `day` days, `hour` hours and `minute` minutes after the start of a simulated archive, in
 * milliseconds since 1970.
 */
export function at(day: number, hour: number, minute = 0): number {
  return simulatedStart + day * dayMs + hour * hourMs + minute * 60_000;
}

/** A gap of a gap manifest. Fields that the gap lacks are undefined. */
export type ManifestGap = Readonly<Record<string, string>>;

/** A simulated archive with readers for its tables and manifests. */
export interface TabledArchive extends SimulatedArchive {
  bytes(path: string): Buffer;
  /** Returns the rows of one day's table, header first. */
  csv(day: string, name: string): string[][];
  parquet(day: string, name: string): Promise<Record<string, unknown>[]>;
  gaps(day: string): ManifestGap[];
  /** Returns the observed seconds of each hour of a day; null for an hour that the table lacks. */
  seconds(day: string, name: 'weather-totals' | 'labels-totals'): (string | null)[];
  /** Returns the record of a day; null if the archive has none. */
  record(day: string): DayRecord | null;
}

/** Archives a number of hours with the privacy scan that the program uses. */
export async function tabledArchive(hours: number, options: SimulationOptions = {}): Promise<TabledArchive> {
  const archive = simulateArchive({ findIdentityIn, ...options });
  await archive.run(hours);
  const bytes = (path: string): Buffer => archive.content.get(path) ?? Buffer.alloc(0);
  const csv = (day: string, name: string) => parseCsv(bytes(`days/${day}/${name}.csv`).toString('utf8'), '\n');
  return {
    ...archive,
    bytes,
    csv,
    seconds(day, name) {
      const [header = [], ...rows] = csv(day, name);
      const [hour, seconds] = [header.indexOf('hour'), header.indexOf('observed_seconds')];
      const known = new Map(rows.map((row) => [row[hour], row[seconds]]));
      return hoursOf(day).map((one) => known.get(one) ?? null);
    },
    parquet(day, name) {
      const { buffer, byteOffset, length } = bytes(`days/${day}/${name}.parquet`);
      return parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer });
    },
    gaps: (day) => (JSON.parse(bytes(`days/${day}/gaps.json`).toString('utf8')) as { gaps: ManifestGap[] }).gaps,
    record: (day) => parseDay(bytes(`days/${day}/day.json`)),
  };
}
