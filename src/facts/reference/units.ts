/**
 * Units of the numbers in the documents. Each rule matches a schema name followed by the path of a field. The first
 * rule that matches applies.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  [/_seconds$/, 'seconds'],
  [/_minutes$/, 'minutes'],
  [/_days(_7d)?$/, 'days'],
  [/_per_s$/, 'events per second'],
  [/_ms\.p\d+$/, 'milliseconds'],
  [/_ms\.labels$/, 'labels'],
  [/_(ratio|share|threshold)$/, 'fraction of one'],
  [/_windows$/, 'windows'],
  [/error\.status$/, 'HTTP status'],
  [/^LabelerDefinitions\.|values_omitted$/, 'values'],
  [/_skipped$|(^|\.|_)rows$|repeats$|^(ExportLastPage|AccountDownload)\.count$|count_bound$/, 'rows'],
  [/alert/, 'alerts'],
  [/top_labelers_7d\[\]\.count$|^LabelCounts\.events|^LabelerEvents\.|^LabelerDay\.|signatures\./, 'events'],
  [/(^|\.)total$|^LabelerValue\.events$|undeclared$/, 'events'],
  [/(^|\.)(attempts|successes)$/, 'attempts'],
  [/^CoverageSources\./, 'sources'],
  [/census|labeler|omitted$|^LabelerStateCounts\./, 'labelers'],
];

/** Returns the unit of a number; null if no rule matches. `path` begins with the name of the schema. */
export function unitOf(path: string): string | null {
  return rules.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
