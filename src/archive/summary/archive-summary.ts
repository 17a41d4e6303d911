import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemCode } from '../../ops/errors.ts';
import { stampOf } from '../../ops/file-stamp.ts';
import { createPoller } from '../../ops/poller.ts';
import { issuesFile, type KnownIssue, parseIssues } from '../days/known-issues.ts';
import { indexFile, type ListedDay, parseIndex, parseTombstones, pathOf, tombstoneFile } from '../days/records.ts';
import { labelsLate, labelsRates, labelsTotals, weatherTotals } from '../tables/columns.ts';

/** Summary of one archived day. */
interface SummarisedDay {
  /** Day in the form `YYYY-MM-DD`. */
  readonly day: string;
  readonly isClosed: boolean;
  /** True for a day that has only the tables of the first edition. */
  readonly hasFirstTables: boolean;
  /** Sums of the published weather; null if the archive has no readable table of the day. */
  readonly weather: DaySums | null;
  /** Sums of the label applications and removals; null if the archive has no readable table of the day. */
  readonly labels: DaySums | null;
}

/** Options for a summary of an archive. */
interface ArchiveSummaryOptions {
  /** Directory of the archive, which may not exist yet. */
  readonly root: string;
  /** Interval between two checks for changes, in milliseconds. */
  readonly pollMs: number;
  /** Describes an identity found in the list of known issues; null if it contains none. */
  readonly findIdentityIn: (name: string, value: object) => string | null;
  /** Called with every error except a missing file. */
  readonly failed: (error: unknown) => void;
}

/** Summary of the newest days of an archive, which a background task keeps up to date. */
export interface ArchiveSummary {
  /**
   * Returns the newest days, oldest first. The list is the same object until the archive or its known issues change.
   * Returns null while the archive does not exist or is not read yet.
   */
  days(): readonly SummarisedDay[] | null;
  /** Returns the known issues; an empty list while the file is invalid or contains an identity. */
  issues(): readonly KnownIssue[];
  /** Starts the background task. Resolves once the archive has been read, or after one second if that takes longer. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Maximum number of days in the summary. */
const summaryDays = 366;
/** Maximum size of the index and of a table, in bytes. */
const maxBytes = 4 * 1024 * 1024;
const firstMs = 1_000;
const csvOf = {
  ...{ weather: `${weatherTotals.name}.csv`, labels: `${labelsTotals.name}.csv` },
  ...{ late: `${labelsLate.name}.csv`, rates: `${labelsRates.name}.csv` },
};
/** The tables that older days have in place of these. */
const firstCsv = { weather: 'weather-by-hour.csv', labels: 'labels-by-hour.csv' };

/** Files of a day whose change causes the day to be read again. */
const watchedFiles = [tombstoneFile, ...Object.values(csvOf), ...Object.values(firstCsv)];

/** Summary of a day, with what determines whether the day is read again. */
interface KnownDay {
  readonly summary: SummarisedDay;
  /** Text that changes whenever the record or one of `watchedFiles` of the day changes. */
  readonly stamp: string;
}

/**
 * Creates the summary of an archive. A day is read again only if its record, its tombstones or its tables have changed.
 * Neither a withdrawal nor a table that is copied or restored later changes the record of a closed day.
 */
export function archiveSummary({ root, pollMs, findIdentityIn, failed }: ArchiveSummaryOptions): ArchiveSummary {
  const stopping = new AbortController();
  const known = new Map<string, KnownDay>();
  let read: { readonly index: Buffer | null; readonly issues: Buffer | null; readonly files: string } = {
    ...{ index: null, issues: null, files: '' },
  };
  let issues: readonly KnownIssue[] = [];
  let days: readonly SummarisedDay[] | null = null;

  async function poll(): Promise<void> {
    try {
      const index = await readBounded(join(root, indexFile));
      const list = await readBounded(join(root, issuesFile));
      const listed = index === null ? null : (parseIndex(index)?.days.slice(-summaryDays) ?? null);
      // One day at a time, so that a year of days does not delay requests.
      const stamps: string[] = [];
      for (const { day } of listed ?? []) stamps.push(await stampOfDay(root, day));
      const files = stamps.join(',');
      const isRead = isSame(index, read.index) && isSame(list, read.issues) && files === read.files;
      if (index !== null && isRead) return;
      const summaries = listed && (await summarised(listed, stamps));
      // Replace the issues and the days without an `await` in between, so that callers never see new issues with old
      // days.
      issues = shownIssues(list, findIdentityIn);
      days = summaries;
      read = { index, issues: list, files };
    } catch (error) {
      failed(error);
    }
  }

  async function summarised(listed: readonly ListedDay[], stamps: readonly string[]): Promise<SummarisedDay[]> {
    const result: SummarisedDay[] = [];
    for (const [at, { day, state, sha256 }] of listed.entries()) {
      const before = known.get(day);
      const stamp = `${sha256} ${stamps[at]}`;
      const isKnown = before?.stamp === stamp;
      const own = isKnown ? before : { stamp, summary: await readDay(root, day, state === 'closed') };
      known.set(day, own);
      result.push(own.summary);
      // Let other tasks run after each day: reading a year of days must not delay requests.
      if (!isKnown) await nextTurn();
      if (stopping.signal.aborted) break;
    }
    const kept = new Set(listed.map(({ day }) => day));
    for (const day of known.keys()) if (!kept.has(day)) known.delete(day);
    return result;
  }

  const poller = createPoller({ poll, pollMs, firstMs, signal: stopping.signal });
  return {
    days: () => days,
    issues: () => issues,
    start: () => poller.start(),
    async stop() {
      stopping.abort();
      await poller.finished();
    },
  };
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

function shownIssues(list: Buffer | null, findIdentityIn: ArchiveSummaryOptions['findIdentityIn']): KnownIssue[] {
  const issues = (list && parseIssues(list)) ?? [];
  return findIdentityIn(issuesFile, { issues }) === null ? issues : [];
}

/** Returns a text that changes whenever one of `watchedFiles` of a day changes. */
async function stampOfDay(root: string, day: string): Promise<string> {
  const stamps = await Promise.all(watchedFiles.map((name) => stampOfFile(join(root, pathOf(day, name)))));
  return stamps.join(' ');
}

/** Returns a text that changes whenever a file changes; an empty text without such a file. */
async function stampOfFile(path: string): Promise<string> {
  try {
    return stampOf(await stat(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return '';
    throw error;
  }
}

/** Returns the names of the withdrawn files of a day; null if its tombstones are damaged. */
async function withdrawnNames(root: string, day: string): Promise<ReadonlySet<string> | null> {
  const tombstones = parseTombstones(await readBounded(join(root, pathOf(day, tombstoneFile))), day);
  return tombstones && new Set(tombstones.map(({ name }) => name));
}

async function readDay(root: string, day: string, isClosed: boolean): Promise<SummarisedDay> {
  const withdrawn = await withdrawnNames(root, day);
  // A withdrawn file that still exists is not published.
  const read = async (name: string): Promise<string | null> =>
    withdrawn === null || withdrawn.has(name)
      ? null
      : ((await readBounded(join(root, pathOf(day, name))))?.toString('utf8') ?? null);
  const [older, olderLabels] = [await read(firstCsv.weather), await read(firstCsv.labels)];
  const [weather, labels] = [await read(csvOf.weather), await read(csvOf.labels)];
  const [late, rates] = [await read(csvOf.late), await read(csvOf.rates)];
  const hasFirstTables = weather === null && labels === null && (older ?? olderLabels) !== null;
  return {
    ...{ day, isClosed, hasFirstTables },
    weather: sumsIn(weather ?? older, weatherSums),
    labels: sumsIn(labels ?? olderLabels, (csv) => (labels === null ? labelsSums(csv) : labelsSums(csv, late, rates))),
  };
}

function sumsIn(csv: string | null, sums: (csv: string) => DaySums | null): DaySums | null {
  return csv === null ? null : sums(csv);
}

/** Reads a file; null if it does not exist, is too large or is not a regular file. */
async function readBounded(path: string): Promise<Buffer | null> {
  try {
    const stats = await stat(path);
    return stats.isFile() && stats.size <= maxBytes ? await readFile(path) : null;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** Sums of one day's events or labels, from a table of the archive. */
interface DaySums {
  /** Number of events or labels; null if nothing was observed. */
  readonly count: number | null;
  /**
   * Observed time of the hours that have a count, in seconds. An hour of labels without a rate counts as half an
   * hour at most.
   */
  readonly observedSeconds: number;
  /** Hours of the day (0 to 23) that have a count and were observed entirely. */
  readonly wholeHours: readonly number[];
  /**
   * Hours of the day that have a count and lack more than `maxOpenSeconds` of observed time; absent if there are none.
   */
  readonly partHours?: readonly number[];
  /**
   * Labels that were read late, which are part of the count and of no rate, and the mean rate of the hours without them.
   * Absent if the instrument did not state them apart.
   */
  readonly late?: LateSums;
}

/** Labels of a day that were read late, and the rate without them. */
interface LateSums {
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
  const own = rows && late !== null && rates !== null ? lateSums(rows, late, rates) : null;
  const rated = own === null ? null : new Set(readTable(rates ?? '', ['hour'])?.map(({ hour }) => hour));
  const read = rows?.map((row) => (rated === null || rated.has(row.hour) ? row : unrated(row)));
  const sums = read ? sumsOf(read.map((row) => ({ ...row, counts: [row.applications, row.removals] }))) : null;
  return sums && (own === null ? sums : { ...sums, late: own });
}

/**
 * Returns an hour without a rate as observed for at most half of it. The time of the table is that of the instrument,
 * which also runs while labelers cannot be reached or are read late.
 */
function unrated<R extends { readonly observed_seconds: string }>(row: R): R {
  return { ...row, observed_seconds: String(Math.min(Number(row.observed_seconds), 1_800)) };
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

/**
 * Maximum time at the end of an hour, in seconds, that may still be open when the archiver first writes the hour. It
 * writes the hour within a minute after its end, and again an hour later.
 */
const maxOpenSeconds = 300;

function sumsOf(rows: readonly HourRow[]): DaySums {
  let count: number | null = null;
  let observedSeconds = 0;
  const [wholeHours, partHours]: [number[], number[]] = [[], []];
  for (const { hour, counts, observed_seconds } of rows) {
    const seconds = Number(observed_seconds);
    // Skip observed time without a count, because it would lower the day's rate.
    if (counts.includes('') || !(seconds > 0)) continue;
    count = counts.reduce((sum, text) => sum + Number(text), count ?? 0);
    observedSeconds += seconds;
    const name = Number(hour.slice(11, 13));
    if (seconds >= 3600) wholeHours.push(name);
    else if (seconds < 3600 - maxOpenSeconds) partHours.push(name);
  }
  return { count, observedSeconds, wholeHours, ...(partHours.length > 0 && { partHours }) };
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
