import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPoller } from '../../artifact/poller.ts';
import { systemCode } from '../../ops/errors.ts';
import { indexFile, type ListedDay, parseIndex } from '../days/index-file.ts';
import { issuesFile, type KnownIssue, parseIssues } from '../days/known-issues.ts';
import { pathOf } from '../days/paths.ts';
import { labelsLate, labelsRates, labelsTotals, weatherTotals } from '../tables/columns.ts';
import { firstNames } from '../tables/first-edition.ts';
import { type DaySums, labelsSums, weatherSums } from './day-summary.ts';

/** Summary of one archived day. */
export interface SummarisedDay {
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
export interface ArchiveSummaryOptions {
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
export const summaryDays = 366;
/** Maximum size of the index and of a table, in bytes. */
const maxBytes = 4 * 1024 * 1024;
const firstMs = 1_000;
const csvOf = {
  ...{ weather: `${weatherTotals.name}.csv`, labels: `${labelsTotals.name}.csv` },
  ...{ late: `${labelsLate.name}.csv`, rates: `${labelsRates.name}.csv` },
};
/** The tables that older days have in place of these. */
const firstCsv = { weather: `${firstNames.weather}.csv`, labels: `${firstNames.labels}.csv` };

/** Creates the summary of an archive. A day is read again only if its record has changed. */
export function archiveSummary({ root, pollMs, findIdentityIn, failed }: ArchiveSummaryOptions): ArchiveSummary {
  const stopping = new AbortController();
  const known = new Map<string, { readonly sha256: string; readonly summary: SummarisedDay }>();
  let read: { readonly index: Buffer | null; readonly issues: Buffer | null } = { index: null, issues: null };
  let issues: readonly KnownIssue[] = [];
  let days: readonly SummarisedDay[] | null = null;

  async function poll(): Promise<void> {
    try {
      const index = await readBounded(join(root, indexFile));
      const list = await readBounded(join(root, issuesFile));
      if (index !== null && isSame(index, read.index) && isSame(list, read.issues)) return;
      const listed = index === null ? null : (parseIndex(index)?.days ?? null);
      const summaries = listed && (await summarised(listed.slice(-summaryDays)));
      // Replace the issues and the days without an `await` in between, so that callers never see new issues with old
      // days.
      issues = shownIssues(list, findIdentityIn);
      days = summaries;
      read = { index, issues: list };
    } catch (error) {
      failed(error);
    }
  }

  async function summarised(listed: readonly ListedDay[]): Promise<SummarisedDay[]> {
    const result: SummarisedDay[] = [];
    for (const { day, state, sha256 } of listed) {
      const before = known.get(day);
      const isKnown = before?.sha256 === sha256;
      const summary = isKnown ? before.summary : await readDay(root, day, state === 'closed');
      known.set(day, { sha256, summary });
      result.push(summary);
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

async function readDay(root: string, day: string, isClosed: boolean): Promise<SummarisedDay> {
  const read = async (name: string): Promise<string | null> =>
    (await readBounded(join(root, pathOf(day, name))))?.toString('utf8') ?? null;
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
