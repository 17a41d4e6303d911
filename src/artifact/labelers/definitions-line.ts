import { scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { checkLabelerDefinitions } from '../labelers.ts';

/** Returns true if a reader accepts this text as a labeler's line of `labeler-definitions.ndjson`. */
export function isDefinitionsLine(text: string): boolean {
  const isWithinLimits = scanJson(Buffer.from(text), inputLimits.labelerLine).fault === null;
  return isWithinLimits && checkLabelerDefinitions(JSON.parse(text)).ok;
}
