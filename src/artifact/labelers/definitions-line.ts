import { scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { checkLabelerDefinitions } from '../labelers.ts';

/**
 * Returns true if the text is a valid line for a labeler in `labeler-definitions.ndjson`. The writer uses it to check
 * its own output.
 */
export function isDefinitionsLine(text: string): boolean {
  const isWithinLimits = scanJson(Buffer.from(text), inputLimits.labelerLine).fault === null;
  return isWithinLimits && checkLabelerDefinitions(JSON.parse(text)).ok;
}
