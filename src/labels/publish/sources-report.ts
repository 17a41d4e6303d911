import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeArtifact } from '../../artifact/write.ts';
import { isObject } from '../../input/json-budget.ts';
import { systemCode } from '../../ops/errors.ts';

/**
 * Report of each source's resource use, in a file next to the store: the running instrument writes the file, and
 * `almanac labels sources` reads it. The report contains labelers but no subjects. Its size is bounded: it contains the
 * sums over all sources, and lists only the most expensive sources and the most expensive and largest domains.
 */

/** Maximum number of sources that a report lists. */
const maxReportedSources = 500;
/** Number of the most expensive domains, and of the domains with the most labelers, that a report lists. */
const maxReportedDomains = 500;
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

/** All known sources of one registrable domain, listed or not. */
interface ReportedDomain extends SourceCost {
  /** The domain, or `-` for sources without a domain. */
  readonly domain: string;
  readonly labelers: number;
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
  readonly domains: readonly ReportedDomain[];
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
    .toSorted((a, b) => byCost(a, b) || (a.did < b.did ? -1 : 1))
    .slice(0, maxReportedSources)
    .map((source) => ({ ...source, ...rounded(source) }));
  return {
    ...times,
    sources: sources.length,
    totals: rounded(sumOfCosts(sources)),
    listed,
    domains: sumByDomain(sources),
  };
}

/** Sums all sources by domain, the most expensive domains first. */
function sumByDomain(sources: readonly ReportedSource[]): ReportedDomain[] {
  const all = [...Map.groupBy(sources, ({ domains }) => reportedDomain(domains))]
    .map(([domain, ones]) => ({
      ...{ domain, labelers: ones.length, slots: ones.reduce((sum, { slots }) => sum + slots, 0) },
      ...rounded(sumOfCosts(ones)),
    }))
    .sort((a, b) => byCost(a, b) || b.labelers - a.labelers);
  const largest = new Set(all.toSorted((a, b) => b.labelers - a.labelers).slice(0, maxReportedDomains));
  return all.filter((one, at) => at < maxReportedDomains || largest.has(one));
}

/** Returns the domain under which a report sums a source with these domains. */
export function reportedDomain(domains: readonly string[]): string {
  return domains.at(-1) ?? '-';
}

function byCost(a: SourceCost, b: SourceCost): number {
  return b.cpuMs - a.cpuMs || b.bytesIn - a.bytesIn;
}

/** Returns the sum of the costs of sources. */
function sumOfCosts(costs: readonly SourceCost[]): SourceCost {
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
  // The report of an earlier version has no domains.
  const summed: unknown[] = Array.isArray(value.domains) ? value.domains : [];
  const domains = summed.slice(0, 2 * maxReportedDomains).flatMap((one) => parseDomain(one) ?? []);
  return { generatedAt, startedAt, sources, totals: costOf(totals), listed, domains };
}

function parseDomain(value: unknown): ReportedDomain | null {
  if (!isObject(value) || typeof value.domain !== 'string') return null;
  const { domain, labelers, slots } = value;
  return { domain, labelers: countOf(labelers), slots: countOf(slots), ...costOf(value) };
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
