import { readDenyFile } from '../../labels/operator/deny-file.ts';
import { OperatorError } from '../../ops/errors.ts';
import { companionFolder } from '../../store/open.ts';
import { type Finding, fail, ok } from './finding.ts';

/**
 * Reports the operator's list of denied labelers. The list is in the `state` directory if the store is in a database.
 * Returns no finding if the list is absent or empty.
 */
export async function checkDenied(storeUrl: string, state: string): Promise<Finding[]> {
  const check = 'denied labelers';
  let folder: string;
  try {
    folder = companionFolder(storeUrl, state);
  } catch (error) {
    // Ignore the error here, because the check of the store reports it.
    if (error instanceof OperatorError) return [];
    throw error;
  }
  const reading = await readDenyFile(folder);
  if (reading.kind === 'damaged') {
    const found = `the list cannot be used: ${reading.why}`;
    return [
      fail(
        check,
        found,
        'correct labels-denied.json next to the store, or restore a copy; until then, almanac labels cannot start',
      ),
    ];
  }
  if (reading.kind === 'absent' || reading.list.entries.length === 0) return [];
  const { entries } = reading.list;
  const domains = entries.filter(({ target }) => target.kind === 'domain').length;
  return [ok(check, `${entries.length - domains} by DID and ${domains} by domain (almanac labels deny lists them)`)];
}
