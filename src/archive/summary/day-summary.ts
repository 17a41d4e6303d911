/** Sums of one day's events or labels, from a table of the archive. */
export interface DaySums {
  /** Number of events or labels; null if nothing was observed. */
  readonly count: number | null;
  /** Observed time of the hours that have a count, in seconds. */
  readonly observedSeconds: number;
  /** Hours of the day (0 to 23) that have a count and were observed entirely. */
  readonly wholeHours: readonly number[];
  /**
   * Labels that were read late, which are part of the count and of no rate, and the mean rate of the hours without them.
   * Absent if the instrument did not state them apart.
   */
  readonly late?: LateSums;
}

/** Labels of a day that were read late, and the rate without them. */
export interface LateSums {
  readonly count: number;
  /** Labels per second; null if no hour has a rate. */
  readonly rate: number | null;
}

/**
 * Returns the sums of the published series in `weather-totals.csv`, or in `weather-by-hour.csv` of an older day. If there
 * are several published series, uses the one that was observed longest. Returns null if a column is missing or a cell is
 * quoted.
 */
export function weatherSums(csv: string): DaySums | null {
  const totals = readTable(csv, ['hour', 'events', 'observed_seconds']);
  if (!isFirstEdition(csv)) return totals && sumsOf(totals.map((row) => ({ ...row, counts: [row.events] })));
  const rows = readTable(csv, ['hour', 'host', 'protocol', 'published', 'collection', 'events', 'observed_seconds']);
  const published = rows?.filter((row) => row.published === 'true' && row.collection === 'total') ?? null;
  if (published === null) return null;
  // The series of two hosts or protocols must never be added up: use the one that was observed longest.
  const series = [...Map.groupBy(published, (row) => `${row.host} ${row.protocol}`).values()];
  const sums = series.map((own) => sumsOf(own.map((row) => ({ ...row, counts: [row.events] }))));
  return sums.reduce((best, one) => (one.observedSeconds > best.observedSeconds ? one : best), sumsOf([]));
}

/**
 * Returns the sums of applications and removals in `labels-totals.csv`, or in `labels-by-hour.csv` of an older day; null
 * if a column is missing or a cell is quoted. `late` and `rates` are `labels-late.csv` and `labels-rates.csv`, if they
 * exist.
 */
export function labelsSums(totals: string, late: string | null = null, rates: string | null = null): DaySums | null {
  const rows = readTable(totals, ['hour', 'applications', 'removals', 'observed_seconds']);
  const sums = rows && sumsOf(rows.map((row) => ({ ...row, counts: [row.applications, row.removals] })));
  const own = rows && late !== null && rates !== null ? lateSums(rows, late, rates) : null;
  return sums && (own === null ? sums : { ...sums, late: own });
}

/** Returns the sums of the late labels; null unless every hour with a count states them apart. */
function lateSums(
  totals: readonly { readonly hour: string; readonly observed_seconds: string }[],
  late: string,
  rates: string,
): LateSums | null {
  const stated = readTable(late, ['hour', 'filled_in_applications', 'filled_in_removals']);
  const rated = readTable(rates, ['hour', 'labels_per_hour']);
  const hours = new Set(stated?.map(({ hour }) => hour));
  if (!stated || !rated || totals.length === 0 || totals.some(({ hour }) => !hours.has(hour))) return null;
  const count = stated.reduce(
    (sum, { filled_in_applications, filled_in_removals }) =>
      sum + Number(filled_in_applications) + Number(filled_in_removals),
    0,
  );
  const secondsOf = new Map(totals.map(({ hour, observed_seconds }) => [hour, Number(observed_seconds)]));
  let [seconds, labels] = [0, 0];
  for (const { hour, labels_per_hour } of rated) {
    const own = secondsOf.get(hour) ?? 0;
    seconds += own;
    labels += (Number(labels_per_hour) * own) / 3_600;
  }
  return { count, rate: seconds === 0 ? null : labels / seconds };
}

function isFirstEdition(csv: string): boolean {
  return csv.slice(0, csv.indexOf('\n')).split(',').includes('published');
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
  const [header = '', ...lines] = csv.split(/\r?\n/);
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
