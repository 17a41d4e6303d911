import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeHours } from '../../../src/artifact/hours/hours.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../../src/artifact/hours/labels-hours.ts';
import {
  checkDefinitionsHeader,
  checkLabeler,
  checkLabelerDefinitions,
  checkLabelersHeader,
  type DefinitionsHeader,
  type LabelerDefinitionsLine,
  type LabelerLine,
  type LabelersHeader,
  labelersLimits,
} from '../../../src/artifact/labelers.ts';
import type { RecentOverview } from '../../../src/artifact/recognise.ts';
import type { Check } from '../../../src/input/schema.ts';

/** The two files of a labelers artifact, with the overview and the hours file generated at the same time. */
export interface LabelersSet {
  readonly header: LabelersHeader;
  readonly labelers: readonly LabelerLine[];
  readonly definitionsHeader: DefinitionsHeader;
  readonly definitions: readonly LabelerDefinitionsLine[];
  readonly overview: RecentOverview;
  /** Hours file generated at the same time; null in a set without one. */
  readonly hours: LabelsHours | null;
}

/** Names of the files that belong to a set, in the artifact directory. */
const fileNames = [
  'labelers.ndjson',
  'labeler-definitions.ndjson',
  'labels-overview.json',
  'labels-hours.json',
] as const;

/**
 * Reads a set from an artifact directory. Resolves with null while a file is missing or the files differ in their
 * generation time. Throws if a line or the hours file is malformed.
 */
export async function readLabelersSet(folder: string): Promise<LabelersSet | null> {
  const texts = await Promise.all(fileNames.map((name) => readFile(join(folder, name), 'utf8'))).catch(() => null);
  const [labelers, definitions, overviewText, hoursText] = texts ?? [];
  if (labelers === undefined || definitions === undefined || overviewText === undefined) return null;
  if (hoursText === undefined) return null;
  const set = { ...parseLabelersSet(labelers, definitions, overviewText), hours: parseHours(hoursText) };
  const { header, definitionsHeader, overview } = set;
  const [at, generation] = [overview.generated_at, overview.acquisition.generation_id];
  const pairs = [header, definitionsHeader].every(
    ({ generated_at, generation_id }) => generated_at === at && generation_id === generation,
  );
  return pairs && set.hours.generated_at === at ? set : null;
}

function parseHours(text: string): LabelsHours {
  const reading = decodeHours(Buffer.from(text), recogniseLabelsHours);
  if (reading.kind !== 'readable') throw new Error(`the hours file is ${reading.kind}: ${reading.why}`);
  return reading.artifact;
}

/** Parses the files of a set. Throws if a line is malformed, too long or out of place. */
export function parseLabelersSet(labelers: string, definitions: string, overview: string): LabelersSet {
  const lines = linesOf(labelers, labelersLimits.fileBytes, labelersLimits.lineBytes);
  const texts = linesOf(definitions, labelersLimits.definitionsFileBytes, labelersLimits.definitionsLineBytes);
  const set = {
    header: parsed(checkLabelersHeader, lines[0]),
    labelers: lines.slice(1).map((line) => parsed(checkLabeler, line)),
    definitionsHeader: parsed(checkDefinitionsHeader, texts[0]),
    definitions: texts.slice(1).map((line) => parsed(checkLabelerDefinitions, line)),
    overview: JSON.parse(overview) as RecentOverview,
    hours: null,
  };
  requireSorted(set.labelers.map(({ did }) => did));
  requireSorted(set.definitions.map(({ did }) => did));
  return set;
}

function linesOf(text: string, maxBytes: number, maxLine: number): string[] {
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`a file has more than ${maxBytes} bytes`);
  if (!text.endsWith('\n')) throw new Error('a file does not end with a line feed');
  const lines = text.slice(0, -1).split('\n');
  for (const [index, line] of lines.entries()) {
    // The length of the header is not limited.
    if (index > 0 && Buffer.byteLength(line) > maxLine) throw new Error(`line ${index} has more than ${maxLine} bytes`);
  }
  return lines;
}

function parsed<T>(check: Check<T>, line: string | undefined): T {
  const result = check(JSON.parse(line ?? 'null'));
  if (!result.ok) throw new Error(`${result.pointer} ${result.why} in ${line?.slice(0, 200)}`);
  return result.value;
}

function requireSorted(dids: readonly string[]): void {
  const at = dids.findIndex((did, index) => index > 0 && did <= (dids[index - 1] ?? ''));
  if (at >= 0) throw new Error(`line ${at + 1} is not in the order of the DIDs`);
}
