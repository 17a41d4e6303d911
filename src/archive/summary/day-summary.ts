/** Sums of one day's events or labels, from a table of the archive. */
export interface DaySums {
  /** Number of events or labels; null if nothing was observed. */
  readonly count: number | null;
  /** Observed time of the hours that have a count, in seconds. */
  readonly observedSeconds: number;
  /** Hours of the day (0 to 23) that have a count and were observed entirely. */
  readonly wholeHours: readonly number[];
}

/**
 * Returns the sums of the published series in `weather-by-hour.csv`. If there are several published series, uses the
 * one that was observed longest. Returns null if a column is missing or a cell is quoted.
 */
export function weatherSums(csv: string): DaySums | null {
  const rows = readTable(csv, ['hour', 'host', 'protocol', 'published', 'collection', 'events', 'observed_seconds']);
  const published = rows?.filter((row) => row.published === 'true' && row.collection === 'total') ?? null;
  if (published === null) return null;
  // The series of two hosts or protocols must never be added up: use the one that was observed longest.
  const series = [...Map.groupBy(published, (row) => `${row.host} ${row.protocol}`).values()];
  const sums = series.map((own) => sumsOf(own.map((row) => ({ ...row, counts: [row.events] }))));
  return sums.reduce((best, one) => (one.observedSeconds > best.observedSeconds ? one : best), sumsOf([]));
}

/**
 * Returns the sums of applications and removals in `labels-by-hour.csv`; null if a column is missing or a cell is
 * quoted.
 */
export function labelsSums(csv: string): DaySums | null {
  const rows = readTable(csv, ['hour', 'applications', 'removals', 'observed_seconds']);
  return rows && sumsOf(rows.map((row) => ({ ...row, counts: [row.applications, row.removals] })));
}

interface HourRow {
  readonly hour: string;
  readonly counts: readonly string[];
  readonly observed_seconds: string;
}

function sumsOf(rows: readonly HourRow[]): DaySums {
  let count: number | null = null;
  let observedSeconds = 0;
  const wholeHours: number[] = [];
  for (const { hour, counts, observed_seconds } of rows) {
    const seconds = Number(observed_seconds);
    // Skip observed time without a count, because it would lower the day's rate.
    if (counts.includes('') || !(seconds > 0)) continue;
    count = counts.reduce((sum, text) => sum + Number(text), count ?? 0);
    observedSeconds += seconds;
    if (seconds >= 3600) wholeHours.push(Number(hour.slice(11, 13)));
  }
  return { count, observedSeconds, wholeHours };
}

/**
 * Returns the cells of the named columns, which the archive never quotes; null if a column is missing or any cell is
 * quoted.
 */
function readTable<const C extends string>(csv: string, columns: readonly C[]): Record<C, string>[] | null {
  const [header = '', ...lines] = csv.split('\r\n');
  const names = header.split(',');
  const places = columns.map((name) => names.indexOf(name));
  if (places.includes(-1) || csv.includes('"')) return null;
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const cells = line.split(',');
      return Object.fromEntries(columns.map((name, at) => [name, cells[places[at] ?? -1] ?? ''])) as Record<C, string>;
    });
}
