import { canonicalJson } from '../../contract/encodings.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { dayMs, startOf } from './calendar.ts';
import { parsedObject } from './records.ts';

/** Name of the operator's list of known issues, in the directory of the archive and in the directory of each day. */
export const issuesFile = 'known-issues.json';
/** Schema of the list of known issues. */
export const issuesSchema = 'almanac.archive.known-issues/v1';
/** Maximum number of known issues. */
const maxIssues = 1_000;
/** Maximum length of the summary of an issue, in characters. */
const maxSummaryLength = 1_000;

/** Parts of the observatory that a known issue may concern. */
const issueSources = ['archive', 'publication', 'labels', 'weather'] as const;

/** A known issue: published values that are wrong or incomplete, in the words of the operator. */
export interface KnownIssue {
  readonly id: string;
  /** Time at which the operator added the issue. */
  readonly reported_at: string;
  readonly source: (typeof issueSources)[number];
  /** Start of the affected period. */
  readonly start: string;
  /** End of the affected period, exclusive; null while the problem persists. */
  readonly end: string | null;
  readonly summary: string;
}

/** Returns the bytes of a list of known issues. */
export function formatIssues(issues: readonly KnownIssue[]): Buffer {
  return Buffer.from(`${canonicalJson({ schema: issuesSchema, issues })}\n`);
}

/** Parses a list of known issues; null if the list is malformed, or if an issue has an unknown or invalid field. */
export function parseIssues(bytes: Uint8Array): KnownIssue[] | null {
  const { schema, issues, ...others } = parsedObject(bytes) ?? {};
  if (schema !== issuesSchema || !Array.isArray(issues) || Object.keys(others).length > 0) return null;
  if (issues.length > maxIssues) return null;
  const parsed = issues.map(parseIssue).filter((issue) => issue !== null);
  const ids = new Set(parsed.map(({ id }) => id));
  return parsed.length === issues.length && ids.size === parsed.length ? parsed : null;
}

function parseIssue(value: unknown): KnownIssue | null {
  if (!isObject(value)) return null;
  const { id, reported_at, source, start, end, summary, ...others } = value;
  const known = issueSources.find((one) => one === source);
  if (typeof id !== 'string' || !/^[a-z0-9][a-z0-9-]{0,63}$/.test(id) || Object.keys(others).length > 0) return null;
  if (!isTime(reported_at) || !isTime(start) || known === undefined) return null;
  if (end !== null && !(isTime(end) && Date.parse(start) < Date.parse(end))) return null;
  if (typeof summary !== 'string' || !isSummary(summary)) return null;
  return { id, reported_at, source: known, start, end, summary };
}

function isTime(value: unknown): value is string {
  return parseTimestamp(value) !== null;
}

function isSummary(text: string): boolean {
  return text.trim() !== '' && text.length <= maxSummaryLength && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

/** Returns the issues whose period overlaps a day. */
export function issuesOf(day: string, issues: readonly KnownIssue[]): KnownIssue[] {
  const [start, end] = [startOf(day), startOf(day) + dayMs];
  return issues.filter(
    (issue) => Date.parse(issue.start) < end && (issue.end === null || Date.parse(issue.end) > start),
  );
}
