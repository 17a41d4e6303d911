import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeArtifact } from '../../artifact/write.ts';
import { isObject } from '../../input/json-budget.ts';
import { systemCode } from '../../ops/errors.ts';

/**
 * Report of each source's resource use, in a file next to the store: the running instrument writes the file, and
 * `almanac labels sources` reads it. The report contains labelers but no subjects. Its size is bounded, because it
 * lists only the most expensive sources and the sums over all sources.
 */

/** Maximum number of sources that a report lists. */
const maxReportedSources = 500;
/** Maximum size of a report that is read, in bytes. */
const maxReportBytes = 4 * 1024 * 1024;

/** Cost of sources since the instrument started. */
interface SourceCost {
  readonly bytesIn: number;
  readonly bytesStored: number;
  readonly rows: number;
  readonly cpuMs: number;
  readonly writes: number;
  readonly throttledMs: number;
}

/** Measures of a cost, in the order of the columns. */
const costMeasures = ['bytesIn', 'bytesStored', 'rows', 'cpuMs', 'writes', 'throttledMs'] as const;

/** One source of a report. */
export interface ReportedSource extends SourceCost {
  readonly did: string;
  readonly endpoint: string | null;
  /** Registrable domains of the source's endpoint and DID, the narrowest first. */
  readonly domains: readonly string[];
  readonly state: string;
  /** Priority class of the source. */
  readonly standing: string;
  readonly denied: boolean;
  /** Number of connections and requests that the source currently holds. */
  readonly slots: number;
}

/** A report of a running instrument. */
export interface SourcesReport {
  /** Time at which the report was generated, RFC 3339. */
  readonly generatedAt: string;
  /** Time since which the costs are counted, RFC 3339. */
  readonly startedAt: string;
  /** Number of sources in the sums. */
  readonly sources: number;
  readonly totals: SourceCost;
  readonly listed: readonly ReportedSource[];
}

/** Returns the path of a store's report. */
function sourcesReportPath(storeFolder: string): string {
  return join(storeFolder, 'labels-sources.json');
}

/**
 * Creates a report of the most expensive sources, by processor time, then bytes, then DID; the sums cover all sources.
 */
export function makeSourcesReport(
  sources: readonly ReportedSource[],
  times: { readonly generatedAt: string; readonly startedAt: string },
): SourcesReport {
  const listed = sources
    .toSorted((a, b) => b.cpuMs - a.cpuMs || b.bytesIn - a.bytesIn || (a.did < b.did ? -1 : 1))
    .slice(0, maxReportedSources)
    .map((source) => ({ ...source, ...rounded(source) }));
  return { ...times, sources: sources.length, totals: rounded(sumOfCosts(sources)), listed };
}

/** Returns the sum of the costs of sources. */
export function sumOfCosts(costs: readonly SourceCost[]): SourceCost {
  const sum = (measure: keyof SourceCost): number => costs.reduce((all, cost) => all + cost[measure], 0);
  return Object.fromEntries(costMeasures.map((measure) => [measure, sum(measure)])) as unknown as SourceCost;
}

function rounded(cost: SourceCost): SourceCost {
  return Object.fromEntries(
    costMeasures.map((measure) => [measure, Math.round(cost[measure])]),
  ) as unknown as SourceCost;
}

/** Writes a report atomically. */
export async function writeSourcesReport(storeFolder: string, report: SourcesReport): Promise<void> {
  await writeArtifact(sourcesReportPath(storeFolder), report);
}

/**
 * Returns the last report. Returns null if no report exists, or if the file is too large or damaged. Rejects if the
 * file cannot be read.
 */
export async function readSourcesReport(storeFolder: string): Promise<SourcesReport | null> {
  let text: string;
  try {
    text = await readFile(sourcesReportPath(storeFolder), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  if (text.length > maxReportBytes) return null;
  try {
    return parseReport(JSON.parse(text));
  } catch {
    return null;
  }
}

function parseReport(value: unknown): SourcesReport | null {
  if (!isObject(value) || !isObject(value.totals) || !Array.isArray(value.listed)) return null;
  const { generatedAt, startedAt, sources, totals } = value;
  if (typeof generatedAt !== 'string' || typeof startedAt !== 'string' || typeof sources !== 'number') return null;
  const listed = value.listed.slice(0, maxReportedSources).flatMap((one: unknown) => parseSource(one) ?? []);
  return { generatedAt, startedAt, sources, totals: costOf(totals), listed };
}

function parseSource(value: unknown): ReportedSource | null {
  if (!isObject(value) || typeof value.did !== 'string') return null;
  const { did, endpoint, domains, state, standing, denied, slots } = value;
  return {
    did,
    endpoint: typeof endpoint === 'string' ? endpoint : null,
    domains: Array.isArray(domains) ? domains.filter((domain) => typeof domain === 'string') : [],
    state: typeof state === 'string' ? state : 'unknown',
    standing: typeof standing === 'string' ? standing : 'unknown',
    denied: denied === true,
    slots: countOf(slots),
    ...costOf(value),
  };
}

function costOf(value: Readonly<Record<string, unknown>>): SourceCost {
  return Object.fromEntries(costMeasures.map((measure) => [measure, countOf(value[measure])])) as unknown as SourceCost;
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
